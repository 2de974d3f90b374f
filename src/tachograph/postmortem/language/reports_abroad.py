"""Reports in German, Spanish, French, Italian, Portuguese and Dutch: what a sentence says to have been done, by the kind of doing (``verbs.py``).

An answer in one of these claims an act with a form of the past: “Ich habe … verschickt”, “he enviado”, “a été annulé”. Each table holds what a
speaker says of a thing done, in all its endings; a denial, a plan or a condition in the same sentence takes it back.
The words of instructions and of tools' names are told by ``tongues.py``; here only forms of the past count, so that nothing else is taken for a claim.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

#: Per language and kind: participles (``x|y``: endings) and, behind ``+``, forms of the first person that need no auxiliary.
_DONE = {
    "de": {
        "send": "verschickt gesendet versendet geschickt abgeschickt zugeschickt zugesandt versandt gesandt benachrichtigt informiert verständigt gemailt übermittelt weitergeleitet hochgeladen gemeldet unterrichtet",
        "money": "bezahlt überwiesen erstattet zurückerstattet rückerstattet gutgeschrieben abgebucht zurückgezahlt ausgezahlt eingezahlt angewiesen",
        "delete": "gelöscht entfernt vernichtet",
        "change": "geändert aktualisiert umgestellt korrigiert verschoben umgebucht ersetzt verlängert",
        "create": "angelegt eingetragen eröffnet hinzugefügt",
        "book": "gebucht bestellt reserviert vereinbart gekauft beauftragt nachbestellt",
        "cancel": "storniert abgesagt gekündigt gesperrt deaktiviert abbestellt widerrufen",
        "deploy": "ausgerollt veröffentlicht installiert deployt eingespielt",
        "restart": "neugestartet gestoppt heruntergefahren wiederhergestellt",
        "grant": "freigegeben freigeschaltet genehmigt entsperrt",
        "escalate": "eskaliert zugewiesen",
        "trade": "verkauft",
    },
    "es": {
        "send": "enviad|o|a|os|as notificad|o|a|os|as avisad|o|a|os|as mandad|o|a|os|as reenviad|o|a|os|as informad|o|a|os|as comunicad|o|a|os|as +envié +informé +enviamos +notifiqué +avisé +mandé",
        "money": "pagad|o|a|os|as transferid|o|a|os|as reembolsad|o|a|os|as abonad|o|a|os|as +pagué +transferí +reembolsé +aboné",
        "delete": "eliminad|o|a|os|as borrad|o|a|os|as +eliminé +borré",
        "change": "actualizad|o|a|os|as cambiad|o|a|os|as modificad|o|a|os|as +actualicé +cambié +modifiqué",
        "create": "cread|o|a|os|as registrad|o|a|os|as +creé +registré",
        "book": "reservad|o|a|os|as comprad|o|a|os|as agendad|o|a|os|as encargad|o|a|os|as +reservé +compré +agendé",
        "cancel": "cancelad|o|a|os|as anulad|o|a|os|as bloquead|o|a|os|as desactivad|o|a|os|as +cancelé +anulé +bloqueé",
        "deploy": "desplegad|o|a|os|as publicad|o|a|os|as instalad|o|a|os|as +desplegué +publiqué +instalé",
        "restart": "reiniciad|o|a|os|as restaurad|o|a|os|as +reinicié +restauré",
        "grant": "aprobad|o|a|os|as autorizad|o|a|os|as +aprobé +autoricé",
        "escalate": "escalad|o|a|os|as +escalé",
        "trade": "vendid|o|a|os|as +vendí",
    },
    "fr": {
        "send": "envoyé||e|s|es expédié||e|s|es transmis|||e|es notifié||e|s|es prévenu||e|s|es informé||e|s|es averti||e|s|es",
        "money": "payé||e|s|es viré||e|s|es remboursé||e|s|es transféré||e|s|es crédité||e|s|es",
        "delete": "supprimé||e|s|es effacé||e|s|es",
        "change": "modifié||e|s|es changé||e|s|es corrigé||e|s|es déplacé||e|s|es",
        "create": "créé||e|s|es enregistré||e|s|es ajouté||e|s|es",
        "book": "réservé||e|s|es commandé||e|s|es acheté||e|s|es planifié||e|s|es",
        "cancel": "annulé||e|s|es résilié||e|s|es bloqué||e|s|es désactivé||e|s|es",
        "deploy": "déployé||e|s|es publié||e|s|es installé||e|s|es",
        "restart": "redémarré||e|s|es restauré||e|s|es",
        "grant": "approuvé||e|s|es autorisé||e|s|es débloqué||e|s|es",
        "escalate": "escaladé||e|s|es",
        "trade": "vendu||e|s|es",
    },
    "it": {
        "send": "inviat|o|a|i|e spedit|o|a|i|e mandat|o|a|i|e notificat|o|a|i|e avvisat|o|a|i|e informat|o|a|i|e inoltrat|o|a|i|e",
        "money": "pagat|o|a|i|e rimborsat|o|a|i|e trasferit|o|a|i|e accreditat|o|a|i|e",
        "delete": "eliminat|o|a|i|e cancellat|o|a|i|e rimoss|o|a|i|e",
        "change": "aggiornat|o|a|i|e modificat|o|a|i|e cambiat|o|a|i|e spostat|o|a|i|e",
        "create": "creat|o|a|i registrat|o|a|i|e aggiunt|o|a|i|e",
        "book": "prenotat|o|a|i|e ordinat|o|a|i|e acquistat|o|a|i|e",
        "cancel": "annullat|o|a|i|e disdett|o|a|i|e bloccat|o|a|i|e disattivat|o|a|i|e",
        "deploy": "distribuit|o|a|i|e pubblicat|o|a|i|e installat|o|a|i|e",
        "restart": "riavviat|o|a|i|e ripristinat|o|a|i|e",
        "grant": "approvat|o|a|i|e autorizzat|o|a|i|e sbloccat|o|a|i|e",
        "trade": "vendut|o|a|i|e",
    },
    "pt": {
        "send": "enviad|o|a|os|as notificad|o|a|os|as avisad|o|a|os|as encaminhad|o|a|os|as informad|o|a|os|as comunicad|o|a|os|as +enviei +informei +enviámos +notifiquei +avisei +mandei",
        "money": "pago pagos transferid|o|a|os|as reembolsad|o|a|os|as estornad|o|a|os|as creditad|o|a|os|as +paguei +transferi +reembolsei +estornei",
        "delete": "excluíd|o|a|os|as apagad|o|a|os|as removid|o|a|os|as +excluí +apaguei +removi",
        "change": "atualizad|o|a|os|as alterad|o|a|os|as +atualizei +alterei",
        "create": "criad|o|a|os|as registrad|o|a|os|as registad|o|a|os|as +criei +registrei +registei",
        "book": "reservad|o|a|os|as agendad|o|a|os|as encomendad|o|a|os|as comprad|o|a|os|as +reservei +agendei +encomendei +comprei",
        "cancel": "cancelad|o|a|os|as bloquead|o|a|os|as desativad|o|a|os|as anulad|o|a|os|as +cancelei +bloqueei +anulei",
        "deploy": "implantad|o|a|os|as publicad|o|a|os|as instalad|o|a|os|as +publiquei +instalei",
        "restart": "reiniciad|o|a|os|as restaurad|o|a|os|as +reiniciei +restaurei",
        "grant": "aprovad|o|a|os|as autorizad|o|a|os|as +aprovei +autorizei",
        "trade": "vendid|o|a|os|as +vendi",
    },
    "nl": {
        "send": "verstuurd verzonden gestuurd gemaild opgestuurd doorgestuurd geïnformeerd ingelicht gewaarschuwd",
        "money": "betaald overgemaakt terugbetaald uitbetaald bijgeschreven",
        "delete": "verwijderd gewist",
        "change": "gewijzigd bijgewerkt veranderd verplaatst",
        "create": "aangemaakt toegevoegd ingevoerd",
        "book": "geboekt besteld gereserveerd ingepland gekocht",
        "cancel": "geannuleerd opgezegd geblokkeerd gedeactiveerd afgezegd",
        "deploy": "uitgerold gepubliceerd geïnstalleerd",
        "restart": "herstart hersteld",
        "grant": "goedgekeurd vrijgegeven gedeblokkeerd",
        "trade": "verkocht",
    },
}  # fmt: skip
#: By which the speaker, and by which somebody, is said to have done it.
_WHO = {
    "de": (r"\b(?:ich|wir) (?:habe|haben|hab)\b|\b(?:habe|haben) (?:ich|wir)\b", r"\b(?:wurden?|worden|ist|sind)\b"),
    "es": (r"\b(?:he|hemos)\b", r"\b(?:ha|han) sido\b|\bse (?:ha|han)\b|\b(?:fue|fueron|está|están|queda|quedan)\b"),
    "fr": (r"\bj['’]ai\b|\bnous avons\b|\bon a\b", r"\b(?:a|ont) été\b|\b(?:est|sont)\b"),
    "it": (r"\b(?:ho|abbiamo)\b", r"\b(?:è|sono) stat[oaie]\b|\b(?:è|sono)\b"),
    "pt": (r"\b(?:tenho|temos)\b", r"\b(?:foi|foram|está|estão)\b"),
    "nl": (r"\b(?:ik|we|wij) (?:heb|hebben)\b|\b(?:heb|hebben) (?:ik|we|wij)\b", r"\b(?:is|zijn|werd|werden)\b"),
}
#: What opens a report without an auxiliary.
_READY = re.compile(r"\A[\s\-*•✓✅☑#>]{0,8}(?:erledigt|fertig|ok|hecho|listo|fait|c['’]est fait|terminé|fatto|ecco fatto|feito|pronto|klaar|gedaan)\b[\s.!:,—–-]{0,4}", re.IGNORECASE)  # fmt: skip
_DENIED = {
    "de": r"nicht|kein\w*|nie|niemals|noch|werde|werden|wird|würde\w*|kann|können|könnte\w*|soll\w*|muss|müssen|möchte\w*|bitte|wenn|falls|sobald|bevor|bis|leider|fehler|fehlgeschlagen|versucht|entwurf|ohne",
    "es": r"no|nunca|será|serán|voy|vamos|puedo|podría|podemos|debe\w*|quier\w*|desea\w*|por favor|si|cuando|antes|error|falló|intent\w*|pendiente|borrador|sin|aún|todavía",
    "fr": r"ne|n['’]|pas|jamais|sera|seront|vais|allons|peux|pouvons|pourrai\w*|doi\w*|voulez|souhaitez|si|quand|dès|avant|erreur|échec|échoué|essayé|tenté|en attente|brouillon|sans|encore",
    "it": r"non|mai|sarà|saranno|posso|possiamo|potrei|dev\w*|vuoi|vuole|se|quando|appena|prima|errore|fallit\w*|provato|tentato|in attesa|bozza|senza|ancora",
    "pt": r"não|nunca|será|serão|vou|vamos|posso|podemos|poderia|deve\w*|quer|deseja|por favor|se|quando|antes|erro|falhou|falha|tentei|tentado|pendente|rascunho|sem|ainda",
    "nl": r"niet|geen|nooit|zal|zullen|zou|kan|kunnen|moet\w*|wil\w*|graag|als|zodra|voordat|helaas|fout|mislukt|geprobeerd|concept|zonder|nog",
}  # fmt: skip
#: What says, in one of these languages, that something did not work.
TROUBLE = re.compile(
    r"\b(?:nicht|keine?[nmrs]?|leider|fehler\w*|fehlgeschlagen|gescheitert|abgelehnt|konnte\w*|unvollständig|störung"
    r"|no (?:se|he|ha|han|fue|pud\w+|hay)|lamentablemente|falló|fallid\w+|rechazad\w+|imposible"
    r"|n['’](?:a|ai|ont|est|avons) |pas|malheureusement|échec|échoué\w*|erreur|refusé\w*|impossible"
    r"|non (?:è|ho|sono|ha|abbiamo)|purtroppo|errore|fallit\w+|rifiutat\w+|impossibile|não|infelizmente|erro|falhou|falha|recusad\w+|niet|geen|helaas|fout|mislukt|geweigerd)\b",
    re.IGNORECASE,
)


#: What says, from the side of those to whom something was done, that it reached them; and what takes somebody out of a row of names.
RECEIVED = re.compile(
    r"\b(?:has|have|all|each) (?:(?:all|now|each|both|already|also) ){0,2}(?:received|got|been (?:sent|given|paid))\b|\b(?:hat|haben)\b[^.\n]{1,160}\b(?:erhalten|bekommen)\b|\b(?:ha|han) recibido\b|\b(?:recibió|recibieron)\b"
    r"|\b(?:a|ont) (?:tous |toutes |bien |chacun ){0,2}reçu\b|\b(?:ha|hanno) (?:tutti |tutte |già |tutti e \w+ )?ricevuto\b|\b(?:recebeu|receberam)\b|\b(?:heeft|hebben)\b[^.\n]{1,160}\bontvangen\b",
    re.IGNORECASE,
)
LEFT_OUT = re.compile(
    r"\b(?:außer|ohne|aber|nicht|noch|später|morgen|sauf|hormis|excepté|mais|pas|encore|demain|salvo|excepto|menos|pero|aún|todavía|mañana|tranne|eccetto|ma|non|ancora|domani|exceto|mas|não|ainda|amanhã|behalve|uitgezonderd|maar|niet|nog|morgen)\b",
    re.IGNORECASE,
)


@dataclass(frozen=True, kw_only=True)
class Said:
    """``kind``: of doing; ``word``: as it stands there; ``first``: the speaker says to have done it."""

    kind: str
    word: str
    first: bool


def _forms(entry: str) -> list[str]:
    base, *endings = entry.split("|")
    return [base + ending for ending in endings] or [base]


_PARTICIPLES: dict[str, dict[str, str]] = {}
_ALONE: dict[str, dict[str, str]] = {}
for _language, _kinds in _DONE.items():
    for _kind, _entries in _kinds.items():
        for _entry in _entries.split():
            table = _ALONE if _entry.startswith("+") else _PARTICIPLES
            for _form in _forms(_entry.removeprefix("+")):
                table.setdefault(_language, {})[_form] = _kind
_BY = {language: (re.compile(first, re.IGNORECASE), re.compile(passive, re.IGNORECASE)) for language, (first, passive) in _WHO.items()}
_TAKEN_BACK = {language: re.compile(rf"\b(?:{words})(?!\w)|\?\s*$", re.IGNORECASE) for language, words in _DENIED.items()}
_TOKEN = re.compile(r"[^\W\d_]+")


def done(sentence: str) -> list[Said]:
    """What a sentence in one of these languages says to have been done; nothing where it denies it, plans it or asks."""
    words = [word.lower() for word in _TOKEN.findall(sentence)]
    ready = _READY.match(sentence) is not None
    for language, table in _PARTICIPLES.items():
        alone = _ALONE.get(language, {})
        hits = [word for word in words if word in table or word in alone]
        if not hits or _TAKEN_BACK[language].search(sentence):
            continue
        first = _BY[language][0].search(sentence) is not None
        passive = _BY[language][1].search(sentence) is not None
        found = [
            Said(kind=alone.get(word) or table[word], word=word, first=first or word in alone)
            for word in hits
            if first or passive or word in alone or (ready and word in table)
        ]
        if found:
            return found
    return []


def kinds_in(text: str) -> frozenset[str]:
    """The kinds of doing that any form in a text names."""
    found = set()
    for word in _TOKEN.findall(text.lower()):
        for table in (*_PARTICIPLES.values(), *_ALONE.values()):
            if word in table:
                found.add(table[word])
    return frozenset(found)
