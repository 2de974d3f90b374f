"""Words of instructions and of doing, in six languages: English first, then the words for it (``tongues.py`` reads them).

A word that ends in ``*`` is the beginning of one. Accents and the case of letters do not matter (``ä`` is ``a``), but for the phrases, which are patterns.
The commonest words of each language tell it from the others.
"""

from __future__ import annotations

COMMON: dict[str, str] = {
    "english": "the and is of to you your with for was has have this that it be are will not from by or if we our an at they their been do does in on no as he she all can were had any which who when",
    "german": "der die das den dem des und ist nicht mit fur sie ihre ihr wir haben hat wurde wird ein eine einen einem auf zu von im zur zum du ich bei es sind ohne bitte kein keine nur in an",
    "french": "le la les et est pas avec pour vous votre nous avons ete une des sur du au aux un dans que qui ne je tu il ce cette sans sont ou on n l d",
    "spanish": "el la los las y es no con para usted su hemos ha una un del por que al lo se de en eres esta como sin son o mi tu",
    "italian": "il la gli le e non con per lei suo abbiamo stato una un del della che di al alla dei sei lo si questo senza sono nel nella o mi i in",
    "dutch": "de het en is niet met voor u uw wij hebben werd een op van je jij bent dat die te zijn wordt naar geen zonder om aan in",
    "portuguese": "o a os as e nao com para voce seu sua temos foi uma um do da dos das que em na ao por se sem esta sao ou de",
}

#: Behind a word for *not*: what is told rather than forbidden.
TOLD = (
    "se hay es esta estan fue han ha he hemos puedo podemos pudo tiene tengo existe era hubo foi tem posso e sono stato stata possiamo "
    "c risulta esiste sei"
)
#: English words that a table has as another language's; alone, they are English.
ENGLISH = (
    "die sin pour solo tan mal plan order come son pan real limit limite note notes stop start test tests code mode mail mails email "
    "file files post report import export reservation transfer transfers transfert confirm confirmation information cancel cancels "
    "cancelled cancellation commander command commands annual annuals approve approval approvals editor edit edits elimination "
    "eliminate eliminates eliminated public publish publication control controls contact contacts document documents register "
    "registered registers registration restore restores restored modify modification modifications modified create creates created "
    "creation creator client clients account accounts actual actually final finally general personal normal total local important "
    "instruction instructions instructor system"
)

#: What is more than one word. Patterns, tried in this order; they are linear, with no repetition within another.
PHRASES: dict[str, dict[str, str]] = {
    "german": {
        "without asking": r"ohne (?:\w{1,12} )?(?:rück|nach)?(?:frage|zufragen|fragen|sprache)n?|ohne zu fragen|ohne (?:weitere |vorherige )?bestätigung",
        "without approval": r"ohne (?:\w{1,12} ){0,2}?(?:freigabe|genehmigung|zustimmung)",
        "without telling": r"ohne (?:\w{1,12} ){0,2}(?:zu )?(?:informieren|benachrichtigen|mitzuteilen|erwähnen|sagen)",
        "from now on": r"ab (?:sofort|jetzt|heute)|von (?:nun|jetzt) an|künftig|fortan",
        "standing instruction": r"(?:dauerhafte|ständige|stehende|bleibende)[nrs]? (?:vorgabe|anweisung|regel|weisung|auftrag|anordnung)|dauer(?:auftrag|anweisung|vorgabe)",
        "at most": r"höchstens|maximal|bis zu|nicht mehr als",
        "more than": r"mehr als|höher als|größer als",
        "at once": r"auf der stelle",
        "no need": r"nicht nötig|nicht erforderlich|kein grund",
        "make sure": r"stelle? (?:bitte )?sicher|achte darauf",
        "under no circumstances": r"unter keinen umständen|auf keinen fall|keinesfalls|in keinem fall",
        "this once": r"dieses (?:eine )?mal|nur dieses mal|ausnahmsweise|einmalig",
        "I am the manager": r"ich bin (?:hier )?(?:der|die|dein|ihr)\w? (?:chef|leiter|inhaber|geschäftsführer|verantwortliche|vorgesetzte|betreiber|eigentümer|admin)\w*",
    },
    "french": {
        "without asking": r"sans (?:\w{1,12} ){0,2}?(?:demander|confirmation|attendre)",
        "without approval": r"sans (?:l['’]|\w{1,12} ){0,2}?(?:validation|autorisation|accord|approbation)",
        "without telling": r"sans (?:\w{1,12} ){0,2}?(?:prévenir|informer|avertir|dire|mentionner)",
        "from now on": r"(?:à partir de|dès) maintenant|désormais|dorénavant",
        "standing instruction": r"(?:consigne|instruction|règle|directive|ordre) permanente?s?",
        "at most": r"au (?:plus|maximum)|jusqu'à|jusqu’à|pas plus de",
        "more than": r"plus de|supérieure?s? à|au[- ]delà de",
        "at once": r"tout de suite|sur[- ]le[- ]champ",
        "no need": r"pas besoin|inutile de|pas nécessaire",
        "make sure": r"assure[zr]?[- ](?:vous|toi)|veille[zr]? à",
        "under no circumstances": r"en aucun cas|sous aucun prétexte",
        "this once": r"(?:juste )?cette fois(?:-ci)?|exceptionnellement",
        "I am the manager": r"je suis (?:le|la|ton|votre|l['’]) ?(?:chef|responsable|directeur|directrice|gérante?|patronn?e?|administrat\w+|propriétaire)",
        "you must": r"vous devez|tu dois|il faut|veuillez",
    },
    "spanish": {
        "without asking": r"sin (?:\w{1,12} ){0,2}?(?:preguntar\w*|consultar\w*|confirmación|confirmar\w*|esperar)",
        "without approval": r"sin (?:\w{1,12} ){0,2}?(?:autorización|aprobación|permiso)",
        "without telling": r"sin (?:\w{1,12} ){0,2}?(?:avisar\w*|informar\w*|decir\w*|mencionar\w*)",
        "from now on": r"(?:a partir de|desde|de) ahora(?: en adelante| mismo)?|de ahora en adelante|en adelante|en lo sucesivo",
        "standing instruction": r"(?:instrucción|orden|regla|norma|directriz|indicación) permanente",
        "at most": r"como máximo|a lo sumo|hasta un máximo de|no más de",
        "more than": r"más de|superior(?:es)? a|mayor(?:es)? (?:de|que|a)|por encima de",
        "at once": r"ahora mismo|de inmediato|en el acto",
        "no need": r"no hace falta|no es necesario|no hay que",
        "make sure": r"asegúrate de|asegúrese de",
        "under no circumstances": r"bajo ning(?:ún|una) (?:concepto|circunstancia)|en ningún caso|de ningún modo",
        "this once": r"(?:solo |sólo )?(?:por )?esta vez|por una vez|excepcionalmente",
        "I am the manager": r"soy (?:el|la|tu|su|yo el|yo la) (?:encargad[oa]|jef[ea]|dueñ[oa]|director\w?|gerente|responsable|administrador\w?|propietari[oa])",
        "forget": r"olvídate de|olvídese de",
        "must": r"hay que|tienes? que|has de",
    },
    "italian": {
        "without asking": r"senza (?:\w{1,12} ){0,2}?(?:chiedere|conferma|aspettare|attendere)",
        "without approval": r"senza (?:l['’]|\w{1,12} ){0,2}?(?:autorizzazione|approvazione|permesso)",
        "without telling": r"senza (?:\w{1,12} ){0,2}?(?:avvisare|informare|dirlo|dire|menzionare)",
        "from now on": r"d['’]ora in (?:poi|avanti)|da (?:ora|adesso|oggi) in poi",
        "standing instruction": r"(?:istruzione|regola|disposizione|ordine|direttiva) permanente",
        "at most": r"al massimo|fino a|non più di|non oltre",
        "more than": r"più di|superior[ei] a|maggior[ei] di|al di sopra di|oltre i",
        "at once": r"all['’]istante",
        "no need": r"non (?:serve|occorre|c['’]è bisogno|è necessario)",
        "make sure": r"assicurati (?:di|che)|si assicuri (?:di|che)",
        "under no circumstances": r"in nessun caso|per nessun motivo",
        "this once": r"(?:solo )?(?:per )?questa volta|eccezionalmente",
        "I am the manager": r"sono (?:il|la|io il|io la|il tuo|la tua) (?:capo|responsabile|direttore|direttrice|titolare|amministrat\w+|proprietari[oa]|gestore)",
    },
    "portuguese": {
        "without asking": r"sem (?:\w{1,12} ){0,2}?(?:perguntar|confirmação|confirmar|esperar|consultar)",
        "without approval": r"sem (?:\w{1,12} ){0,2}?(?:autorização|aprovação|permissão)",
        "without telling": r"sem (?:\w{1,12} ){0,2}?(?:avisar|informar|dizer|mencionar)",
        "from now on": r"a partir de agora|de agora em diante|doravante",
        "standing instruction": r"(?:instrução|ordem|regra|diretriz) permanente",
        "at most": r"no máximo|até um máximo de|não mais (?:de|que|do que)",
        "more than": r"mais (?:de|do que)|superior(?:es)? a|maior(?:es)? (?:que|do que)|acima de",
        "at once": r"agora mesmo|de imediato",
        "no need": r"não é (?:preciso|necessário)|não precisa",
        "make sure": r"certifi(?:que|ca)-(?:se|te) de|assegure-se de|garanta que",
        "under no circumstances": r"em (?:nenhum|hipótese alguma|caso algum)(?: caso)?|de modo algum",
        "this once": r"(?:só )?desta vez|excepcionalmente",
        "I am the manager": r"(?:eu )?sou (?:o|a|o seu|o teu) (?:chefe|gerente|diretora?|responsável|don[oa]|administrador\w?|encarregad[oa])",
    },
    "dutch": {
        "without asking": r"zonder (?:\w{1,12} ){0,2}?(?:te vragen|navraag|bevestiging|te wachten|overleg)",
        "without approval": r"zonder (?:\w{1,12} ){0,2}?(?:goedkeuring|toestemming)",
        "without telling": r"zonder (?:\w{1,12} ){0,2}?(?:te melden|te zeggen|te informeren|te vermelden)",
        "from now on": r"vanaf (?:nu|heden|vandaag)|voortaan",
        "standing instruction": r"(?:blijvende|permanente|doorlopende) (?:instructie|regel|opdracht|afspraak)",
        "at most": r"hoogstens|ten hoogste|maximaal|niet meer dan|tot maximaal",
        "more than": r"meer dan|hoger dan|groter dan",
        "at once": r"op staande voet",
        "no need": r"niet nodig|hoeft niet",
        "make sure": r"zorg (?:ervoor )?dat|zorg ervoor",
        "under no circumstances": r"onder geen (?:beding|enkele omstandigheid)|in geen geval",
        "this once": r"(?:alleen )?(?:deze|dit) (?:ene )?keer|bij uitzondering",
        "I am the manager": r"ik ben (?:de|je|uw|jouw) (?:baas|manager|directeur|leidinggevende|eigenaar|beheerder|chef)",
    },
}

#: Words of instructions: what binds, forbids, limits and conditions, and what addresses an assistant.
WORDS: dict[str, dict[str, str]] = {
    "german": {
        "never": "nie niemals", "at most": "höchstens maximal", "always": "immer stets", "must": "muss müssen musst müsst", "may": "darf darfst dürfen", "should": "soll sollen sollst sollte sollten",
        "can": "kann kannst können", "only": "nur ausschließlich", "please": "bitte", "without": "ohne", "before": "vor bevor", "until": "bis", "unless": "außer sofern",
        "if": "wenn falls", "after": "nach nachdem", "no": "kein keine keinen keinem keiner keines", "immediately": "sofort unverzüglich umgehend gleich", "over": "über", "below": "unter",
        "every": "jede jeder jedem jeden jedes", "the": "der die das den dem des", "a": "ein eine einen einem eines einer", "and": "und", "or": "oder", "but": "aber sondern", "of the": "vom", "to the": "zum zur", "to": "an",
        "of": "von", "with": "mit", "in": "im", "for": "für", "not allowed": "verboten untersagt unzulässig", "required": "erforderlich nötig pflicht notwendig", "limit": "limit grenze höchstbetrag obergrenze tageslimit höchstmenge", "exceed": "überschreite*  übersteig*",
        "even": "auch", "is": "ist", "are": "sind", "was": "wurde wurden", "you": "du dich sie", "first": "zuerst vorher zunächst", "assistant": "assistent assistentin assistenten", "agents": "agent agenten",
        "instructions": "anweisung* vorgabe* weisung*", "rules": "regel regeln richtlinie richtlinien", "ignore": "ignorier* missacht*", "forget": "vergiss vergessen vergesst", "skip": "überspring*", "approval": "freigabe genehmigung zustimmung", "replaces": "ersetzt",
        "customer": "kunde kunden kundin", "amount": "betrag beträge", "user": "nutzer benutzer", "account": "konto konten", "manager": "vorgesetzte*", "regardless": "trotzdem dennoch egal", "urgent": "dringend eilig", "policy": "richtlinie",
    },
    "french": {
        "never": "jamais", "always": "toujours", "must": "dois doit devez doivent", "may": "peut pouvez peuvent", "should": "devrait devriez", "only": "seulement uniquement", "please": "svp", "without": "sans",
        "before": "avant", "until": "jusque", "unless": "sauf", "if": "si", "after": "après", "no": "aucun aucune", "immediately": "immédiatement aussitôt", "over": "dépassant", "below": "inférieur inférieure sous", "every": "chaque tout toute tous toutes",
        "the": "le la les", "a": "un une", "and": "et", "or": "ou", "but": "mais", "of": "de", "of the": "du des", "to the": "au aux", "with": "avec", "in": "dans", "for": "pour", "not allowed": "interdit interdite interdits interdites", "required": "obligatoire requis nécessaire",
        "limit": "limite plafond maximum", "exceed": "dépass*", "is": "est", "are": "sont", "was": "été", "you": "vous tu", "first": "abord", "even": "même", "assistant": "assistant assistante", "instructions": "consigne* instruction*", "rules": "règle règles", "ignore": "ignore* ignorez",
        "forget": "oubli*", "skip": "saute sautez", "approval": "accord autorisation validation approbation", "replaces": "remplace", "customer": "client cliente clients", "amount": "montant montants", "user": "utilisateur utilisateurs", "account": "compte comptes",
        "": "pas", "regardless": "malgré quand-même", "urgent": "urgent urgence", "policy": "politique",
    },
    "spanish": {
        "never": "nunca jamás", "always": "siempre", "must": "debe debes deben deberás deberá", "may": "puede puedes pueden podrás", "should": "debería deberías", "only": "sólo solo solamente únicamente", "please": "favor", "without": "sin", "before": "antes", "until": "hasta",
        "unless": "salvo excepto", "if": "si", "after": "después tras", "no": "ningún ninguna ninguno", "immediately": "inmediatamente enseguida", "over": "sobre", "below": "inferior inferiores bajo", "every": "cada todo toda todos todas", "the": "el la los las", "a": "un una", "and": "y",
        "or": "o u", "but": "pero sino", "of": "de", "of the": "del", "to": "a", "to the": "al", "with": "con", "in": "en", "for": "para", "not allowed": "prohibido prohibida prohibidos prohibidas", "required": "obligatorio obligatoria necesario requerido", "limit": "límite tope máximo", "exceed": "super* exced* sobrepas* rebas*",
        "is": "es está", "are": "son están", "was": "fue", "you": "tú usted", "first": "primero", "even": "incluso aunque", "assistant": "asistente", "agents": "agente agentes", "instructions": "instruccion* indicacion*", "rules": "regla reglas norma normas", "ignore": "ignor*", "forget": "olvíd* olvida olvide", "skip": "sáltate omite omita",
        "approval": "aprobación autorización", "replaces": "sustituye reemplaza", "customer": "cliente clientes", "amount": "importe monto cantidad", "user": "usuario usuarios", "account": "cuenta cuentas", "regardless": "igualmente", "urgent": "urgente", "policy": "política",
    },
    "italian": {
        "never": "mai", "always": "sempre", "must": "deve devi devono dovrà", "may": "può puoi possono", "should": "dovrebbe dovresti", "only": "solo soltanto solamente esclusivamente", "please": "prego", "without": "senza", "before": "prima", "until": "finché fino", "unless": "salvo tranne eccetto", "if": "se",
        "after": "dopo", "no": "nessun nessuna nessuno", "immediately": "immediatamente subito", "over": "oltre sopra", "below": "inferiore inferiori sotto", "every": "ogni tutti tutte", "the": "il lo la i gli le", "a": "un uno una", "and": "e ed", "or": "o", "but": "ma", "of": "di", "of the": "del della dei delle dello degli",
        "to": "a", "to the": "al alla ai alle allo", "with": "con", "in": "nel nella", "for": "per", "not allowed": "vietato vietata vietati proibito", "required": "obbligatorio obbligatoria necessario", "limit": "limite tetto massimo", "exceed": "superar* super* ecced*", "is": "è", "are": "sono", "was": "stato stata", "you": "tu",
        "first": "dapprima", "even": "anche", "assistant": "assistente", "agents": "agente agenti", "instructions": "istruzion* indicazion*", "rules": "regola regole", "ignore": "ignora ignori ignorate ignorare", "forget": "dimentica* dimentichi", "skip": "salta salti saltare", "approval": "approvazione autorizzazione", "replaces": "sostituisce", "customer": "cliente clienti",
        "amount": "importo importi", "user": "utente utenti", "account": "conto conti", "regardless": "comunque", "urgent": "urgente", "policy": "politica",
    },
    "portuguese": {
        "never": "nunca jamais", "always": "sempre", "must": "deve deves devem deverá", "may": "pode podes podem", "should": "deveria", "only": "só apenas somente", "please": "favor", "without": "sem", "before": "antes", "until": "até", "unless": "salvo exceto", "if": "se", "after": "depois após", "no": "nenhum nenhuma",
        "immediately": "imediatamente já", "over": "sobre", "below": "inferior abaixo", "every": "cada todo toda todos todas", "the": "o a os as", "a": "um uma", "and": "e", "or": "ou", "of": "de", "of the": "do da dos das", "to the": "ao aos à às", "with": "com", "in": "em", "in the": "na nas nos", "for": "para",
        "not allowed": "proibido proibida proibidos", "required": "obrigatório obrigatória necessário", "limit": "limite teto máximo", "exceed": "exced* ultrapass* super*", "is": "é está", "are": "são", "was": "foi", "you": "você", "first": "primeiro", "even": "mesmo", "assistant": "assistente", "agents": "agente agentes", "instructions": "instruc* instruç*",
        "rules": "regra regras norma normas", "ignore": "ignor*", "forget": "esquec* esqueça", "skip": "salta salte pule", "approval": "aprovação autorização", "replaces": "substitui", "customer": "cliente clientes", "amount": "valor montante quantia", "user": "usuário utilizador", "account": "conta contas", "urgent": "urgente", "policy": "política",
    },
    "dutch": {
        "never": "nooit", "at most": "hoogstens hooguit maximaal", "always": "altijd steeds", "must": "moet moeten", "may": "mag mogen", "should": "zou", "can": "kan kunt kunnen", "only": "alleen uitsluitend slechts", "please": "alstublieft alsjeblieft graag", "without": "zonder", "before": "voordat vóór", "until": "tot totdat", "unless": "tenzij behalve", "if": "als indien wanneer", "after": "na nadat",
        "no": "geen", "immediately": "meteen direct onmiddellijk", "over": "boven", "below": "onder beneden", "every": "elke elk iedere ieder alle", "the": "de het", "a": "een", "and": "en", "or": "of", "but": "maar", "of": "van", "to": "naar aan", "with": "met", "for": "voor", "not allowed": "verboden", "required": "verplicht nodig vereist",
        "limit": "limiet grens maximum daglimiet", "exceed": "overschrijd* overschrijdt", "is": "is", "are": "zijn", "was": "werd werden", "you": "je u jij", "first": "eerst", "even": "zelfs ook", "assistant": "assistent", "agents": "agent agenten", "instructions": "instructie* aanwijzing*", "rules": "regel regels", "ignore": "negeer negeren", "forget": "vergeet vergeten",
        "skip": "sla overslaan", "approval": "goedkeuring toestemming", "replaces": "vervangt", "customer": "klant klanten", "amount": "bedrag bedragen", "user": "gebruiker gebruikers", "account": "rekening rekeningen", "regardless": "toch", "urgent": "dringend spoed", "policy": "beleid",
    },
}  # fmt: skip

#: Things that are done, as nouns.
NOUNS: dict[str, dict[str, str]] = {
    "german": {
        "transfer": "überweisung*", "payment": "zahlung* auszahlung*", "refund": "erstattung* rückerstattung* gutschrift*", "order": "bestellung* auftrag aufträge", "cancellation": "stornierung* kündigung*", "deletion": "löschung*", "booking": "buchung* reservierung*", "message": "nachricht*", "release": "freigabe*",
        "shipment": "versand sendung* lieferung*", "change": "änderung*", "question": "rückfrage*", "discount": "rabatt*", "price": "preis preise", "deployment": "auslieferung bereitstellung*", "dose": "dosis dosen", "report": "bericht berichte",
    },
    "french": {
        "transfer": "virement*", "payment": "paiement*", "refund": "remboursement*", "order": "commande commandes", "cancellation": "annulation*", "deletion": "suppression*", "booking": "réservation*", "message": "message*", "shipment": "expédition* livraison*", "change": "changement* modification*", "discount": "remise rabais",
        "price": "prix", "deployment": "déploiement*", "dose": "dose doses",
    },
    "spanish": {
        "transfer": "transferencia*", "payment": "pago pagos", "refund": "reembolso* devolucion*", "order": "pedido pedidos orden órdenes", "cancellation": "cancelacion* anulacion*", "deletion": "eliminacion* borrado", "booking": "reserva reservas", "message": "mensaje*", "shipment": "envío envíos", "change": "cambio cambios", "discount": "descuento*",
        "price": "precio precios", "deployment": "despliegue*", "dose": "dosis",
    },
    "italian": {
        "transfer": "bonifico bonifici trasferimento*", "payment": "pagamento pagamenti", "refund": "rimborso rimborsi", "order": "ordine ordini", "cancellation": "cancellazione annullamento*", "deletion": "eliminazione", "booking": "prenotazione prenotazioni", "message": "messaggio messaggi", "shipment": "spedizione spedizioni", "change": "modifica modifiche",
        "discount": "sconto sconti", "price": "prezzo prezzi", "dose": "dose dosi",
    },
    "portuguese": {
        "transfer": "transferência*", "payment": "pagamento pagamentos", "refund": "reembolso* estorno*", "order": "pedido pedidos encomenda*", "cancellation": "cancelamento*", "deletion": "exclusão eliminação", "booking": "reserva reservas", "message": "mensagem mensagens", "shipment": "envio envios", "change": "alteração alterações mudança*", "discount": "desconto*",
        "price": "preço preços", "dose": "dose doses",
    },
    "dutch": {
        "transfer": "overboeking* overschrijving*", "payment": "betaling* uitbetaling*", "refund": "terugbetaling* restitutie*", "order": "bestelling* opdracht*", "cancellation": "annulering*", "deletion": "verwijdering*", "booking": "boeking* reservering*", "message": "bericht berichten", "shipment": "verzending* levering*", "change": "wijziging*",
        "discount": "korting*", "price": "prijs prijzen", "dose": "dosis doses",
    },
}  # fmt: skip

#: What is done, as verbs, by the beginnings of their forms.
VERBS: dict[str, dict[str, str]] = {
    "german": {
        "transfer": "überweis* transferier*", "pay": "zahle* zahlt bezahl* auszahl*", "refund": "erstatte* rückerstatt*", "send": "sende sendet senden sendest schick* verschick* versend* abschick* absend*", "forward": "weiterleit* leite", "delete": "lösch* entfern*", "order": "bestell*", "book": "buche buchen bucht reservier*",
        "cancel": "stornier* kündig* absag*", "change": "änder* veränder* anpass*", "create": "erstell* anleg*", "approve": "genehmig* freigeb* gib", "block": "sperr* blockier*", "unblock": "entsperr*", "publish": "veröffentlich*", "execute": "ausführ* führe", "ask": "frage fragst fragen rückfragen nachfragen", "confirm": "bestätig*", "write": "schreib*",
        "tell": "sage sagen sagst mitteil* nenne nennen verrate*", "notify": "benachrichtig* informier*", "mention": "erwähn*", "open": "öffne*", "close": "schließ* schliess*", "restart": "neustart*", "check": "prüf* überprüf*", "use": "verwend* benutz* nutze nutzen", "share": "teile teilen", "upload": "hochlad* lade", "show": "zeige zeigen", "set": "setze setzen",
        "increase": "erhöh*", "reduce": "senke senken reduzier*", "grant": "gewähr*", "read": "lese lesen lies",
    },
    "french": {
        "transfer": "transfér* transfer* virer virez", "pay": "paye* payer payez paie", "refund": "rembours*", "send": "envoy* envoi* expédi*", "forward": "transmet* transmett*", "delete": "supprim* efface*", "order": "commande* commander commandez", "book": "réserv*", "cancel": "annul*", "change": "modifi* change* changer", "create": "crée créer créez",
        "approve": "approuv* valid*", "block": "bloqu*", "unblock": "débloqu*", "publish": "publi*", "execute": "exécut*", "ask": "demand*", "confirm": "confirm*", "write": "écri*", "tell": "dire dites révél* divulgu*", "notify": "notifi* inform* préven*", "mention": "mentionn*", "open": "ouvr*", "close": "ferme* fermer fermez clôtur*", "restart": "redémarr*",
        "check": "vérifi* contrôl*", "use": "utilis*", "share": "partag*", "upload": "télévers*", "show": "montre* affich*", "deploy": "déploy*", "increase": "augment*", "reduce": "rédui*", "grant": "accord*",
    },
    "spanish": {
        "transfer": "transfier* transfer*", "pay": "paga pagar pague pagues paguen abona abone", "refund": "reembols* devuelv* devolver", "send": "envía* envíe* envi* manda* mande*", "forward": "reenv*", "delete": "borra* borre* elimin*", "order": "pide pida pedir ordena* encarg*", "book": "reserv*", "cancel": "cancel* anul*", "change": "cambi* modific*", "create": "crea crear cree creas",
        "approve": "aprueb* aprob*", "block": "bloque*", "unblock": "desbloque*", "publish": "public*", "execute": "ejecut*", "ask": "pregunt* consult*", "confirm": "confirm*", "write": "escrib*", "tell": "dile diga digas revel* divulg*", "notify": "avisa* avise* notific* inform*", "mention": "mencion*", "open": "abre abra abrir", "close": "cierra cierre cerrar", "restart": "reinici*",
        "check": "comprueb* comprob* verific*", "use": "usa usar use utiliz*", "share": "compart*", "upload": "sube suba subir", "show": "muestr* mostr*", "apply": "echa eche echar aplica* aplique*", "deploy": "despleg* desplieg*", "increase": "aument*", "reduce": "reduc* reduzca*", "grant": "conced*",
    },
    "italian": {
        "transfer": "trasfer* bonific*", "pay": "paga pagare paghi pagate", "refund": "rimbors*", "send": "invia* invi* manda* mandi spedi*", "forward": "inoltr*", "delete": "elimin* cancella*", "order": "ordina* ordini", "book": "prenot*", "cancel": "annull* disdi*", "change": "modific* cambi*", "create": "crea creare crei", "approve": "approv*", "block": "blocc*", "unblock": "sblocc*",
        "publish": "pubblic*", "execute": "esegu*", "ask": "chied*", "confirm": "conferm*", "write": "scriv*", "tell": "dire dica rivel* divulg*", "notify": "notific* avvis* inform*", "mention": "menzion*", "open": "apri apra aprire", "close": "chiud*", "restart": "riavvi*", "check": "verific* controll*", "use": "usa usare usi utilizz*", "share": "condivid*", "upload": "carica caricare", "show": "mostr*",
        "apply": "applic*", "increase": "aument*", "reduce": "riduc* ridurre", "grant": "conced*",
    },
    "portuguese": {
        "transfer": "transfer* transfir*", "pay": "paga pagar pague paguem", "refund": "reembols* estorn*", "send": "envia* envie* envi* manda* mande*", "forward": "encaminh* reencaminh*", "delete": "apaga* apague* elimin* exclu*", "order": "encomend* peça", "book": "reserv*", "cancel": "cancel* anul*", "change": "altera* altere* mude mudar modifi*", "create": "cria criar crie", "approve": "aprov*",
        "block": "bloque*", "unblock": "desbloque*", "publish": "public* publiqu*", "execute": "execut*", "ask": "pergunt* consult*", "confirm": "confirm*", "write": "escrev*", "tell": "diga dizer revel* divulg*", "notify": "avisa* avise* notifi* inform*", "mention": "mencion*", "open": "abra abrir", "close": "fecha* feche*", "restart": "reinici*", "check": "verifi*", "use": "usa usar utiliz*", "share": "compartilh* partilh*",
        "show": "mostr*", "apply": "aplica* aplique*", "increase": "aument*", "reduce": "reduz*", "grant": "conced*",
    },
    "dutch": {
        "transfer": "overmak* overboek* overschrijv*", "pay": "betaal* betalen uitbetal*", "refund": "terugbetal* vergoed*", "send": "stuur* sturen verstuur* verstur* verzend* zend*", "forward": "doorstur* doorstuur*", "delete": "verwijder* wissen wis", "order": "bestel*", "book": "boek boeken boekt reserveer* reserver*", "cancel": "annuleer* annuler* opzeg*", "change": "wijzig* verander* aanpas*", "create": "maak aanmak*",
        "approve": "goedkeur* keur", "block": "blokkeer* blokker*", "unblock": "deblokk*", "publish": "publiceer* publicer*", "execute": "uitvoer* voer", "ask": "vraag vragen navragen", "confirm": "bevestig*", "write": "schrijf schrijv*", "tell": "zeg zeggen vertel* onthul*", "notify": "informeer* informer* verwittig*", "mention": "vermeld* noem noemen", "open": "open openen", "close": "sluit sluiten", "restart": "herstart*",
        "check": "controleer* controler*", "use": "gebruik*", "share": "deel delen", "show": "toon tonen", "apply": "toepas*", "increase": "verhoog* verhog*", "reduce": "verlaag* verlag*", "grant": "verleen* verlen*",
    },
}  # fmt: skip
#: Past participles that do not begin as their verb does.
for _language, _done in {
    "german": {"transferred": "überwiesen", "sent": "gesendet geschickt verschickt versendet versandt", "deleted": "gelöscht", "paid": "gezahlt bezahlt ausgezahlt", "refunded": "erstattet", "booked": "gebucht", "ordered": "bestellt", "canceled": "storniert gekündigt abgesagt", "changed": "geändert", "approved": "genehmigt freigegeben", "created": "erstellt angelegt", "blocked": "gesperrt", "forwarded": "weitergeleitet", "executed": "ausgeführt", "published": "veröffentlicht"},
    "dutch": {"transferred": "overgemaakt overgeboekt", "sent": "verstuurd verzonden gestuurd", "deleted": "verwijderd gewist", "paid": "betaald uitbetaald", "refunded": "terugbetaald", "booked": "geboekt gereserveerd", "ordered": "besteld", "canceled": "geannuleerd", "changed": "gewijzigd", "approved": "goedgekeurd", "created": "aangemaakt", "blocked": "geblokkeerd", "forwarded": "doorgestuurd", "executed": "uitgevoerd"},
}.items():  # fmt: skip
    WORDS[_language] |= _done
#: What people say who own up to a mistake of theirs: the pieces of a pattern, in English and the six.
_BLAMES = (
        r"my (?:own )?(?:mistake|bad|fault|error|slip|oversight|typo)\b", r"(?:mistake|error|typo|slip) (?:of mine|on my (?:part|side|end)|from me)\b", r"mea culpa\b",
        r"i (?:misread|mistyped|misspoke|misremembered|miswrote|miscounted|misheard|mixed|confused|meant|messed|goofed|slipped|erred)\b", r"i should have (?:said|written|given|put|typed)\b",
        r"i(?:'ve| have)? (?:gave|given|got|sent|wrote|written|typed|told|said|entered|named|put|read|had|copied|noted|picked)\b[^.!?\n]{0,50}\b(?:wrong|incorrect\w*|by mistake|the other way)\b",
        r"i (?:was wrong|made (?:a|an) (?:\w+ )?(?:mistake|error|typo))\b", r"(?:it|that|this) (?:should|ought to) have (?:been|said|read)\b", r"wrong (?:\w+ )?from me\b",
        r"mein (?:fehler|irrtum|versehen)\b", r"(?:fehler|irrtum|versehen) (?:von mir|meinerseits)\b", r"(?:ich habe?|habe ich) (?:mich |da |das |dir |ihnen |euch |leider |wohl ){0,3}(?:vertippt|verschrieben|verlesen|geirrt|vertan|versehen|verhört|verrechnet|versprochen)\b",
        r"(?:ich hab\w?|hab\w? ich)\b[^.!?\n]{0,60}\b(?:falsch\w*|verwechselt|vertauscht|aus versehen)\b", r"(?:ich meinte|gemeint war|meine schuld)\b",
        r"(?:je )?me suis (?:tromp|mélang|mal exprim)\w+", r"(?:une |mon )?(?:erreur|faute|coquille) (?:de (?:ma|notre) part|de frappe)\b", r"(?:c'est |c’est )?(?:ma faute|mon erreur)\b", r"ai (?:\w+ )?(?:mal (?:lu|compris|not[ée]|écrit|copié|saisi|indiqué)|confondu|fait (?:une|un) (?:erreur|faute))\b",
        r"ai\b[^.!?\n]{0,50}\b(?:mauvaise?|erron\w+|par erreur|faux|fausse)\b", r"(?:je voulais dire|j['’]aurais dû)\b",
        r"(?:me )?(?:he |hemos )?(?:me )?equivo(?:qu[eé]|cado|camos)\b", r"(?:error|fallo|culpa|equivocación) (?:m[ií][oa]|nuestr[oa])\b", r"(?:mi|por mi) (?:error|culpa|fallo|equivocación)\b", r"(?:me confund[ií]|le[ií] mal|quise decir|quer[ií]a decir|me he confundido|deb[ií] (?:decir|poner))\b",
        r"(?:mi sono |ho )(?:sbagliat\w|confus\w)\b", r"(?:errore|colpa|sbaglio) (?:mi[oa]|nostr[oa])\b", r"(?:mio|un mio) (?:errore|sbaglio)\b", r"(?:ho (?:letto|scritto|capito) male|volevo dire|intendevo|avrei dovuto)\b",
        r"(?:enganei-me|me enganei|errei|equivoquei-me|me equivoquei|me confundi|confundi-me|li mal|queria dizer)\b", r"(?:erro|culpa|engano|lapso) (?:meu|minha|nosso|nossa)\b", r"(?:meu|minha) (?:erro|culpa|engano)\b",
        r"(?:mijn|onze) (?:fout|vergissing|schuld)\b", r"(?:ik heb me|heb ik me|ik) vergist?e?\b", r"(?:ik heb|heb ik)\b[^.!?\n]{0,50}\b(?:verkeerd\w*|vergist|verwisseld|vertypt)\b", r"(?:ik bedoelde|fout(?:je)? van mij)\b",
)  # fmt: skip
BLAMES = "|".join(_BLAMES)
#: For each of them a word without which it cannot be there (``sieve.py``).
BLAME_WORDS = (
    "from me|made a|ich hab|hab ich|habe ich|heb ik|ik heb|mistake| bad|fault|erro|erre|slip|oversight|typo|culpa|misread|misspoke|misremembered|mistyped|miswrote|miscounted|misheard|mixed|confus|confund|meant|messed|goofed|should have|ought to have|wrong|incorrect|other way"
    "|fehler|irrtum|versehen|vertippt|verschrieben|verlesen|geirrt|vertan|verh|verrechnet|versprochen|falsch|verwechselt|vertauscht|meint|schuld|me suis|faute|coquille|confondu|mal|mauvais|faux|fausse|voulais|aurais"
    "|equivo|fallo|quise|decir|poner|sbagli|colpa|volevo|intendevo|avrei|engan|lapso|dizer|fout|vergis|verkeerd|verwissel|vertypt|bedoelde"
)
#: What people say of values that changed places.
SWAPPED = (
    r"(?:the )?(?:wrong|other) way (?:round|around)|swapped|mixed (?:\w+ ){0,3}up|transposed|switched|in the wrong order|back to front|reversed|vertauscht|verdreht|verkehrt ?herum|andersherum|verwechselt"
    r"|invers[ée]\w*|interverti\w*|à l['’]envers|dans le mauvais ordre|al rev[eé]s|intercambi\w+|cambiad[oa]s de (?:sitio|orden)|invertit[oaie]|scambiat[oaie]|al contrario|trocad[oa]s|troquei|ao contr[aá]rio"
    r"|omgewisseld|verwisseld|omgedraaid|andersom"
)
SWAP_WORDS = (
    " way |swapped|mixed|transposed|switched|wrong order|back to front|reversed|vertauscht|verdreht|verkehrt|andersherum|verwechselt|invers|interverti|envers|mauvais ordre|al rev|intercambi|cambiad|invert|scambiat|al contrario"
    "|trocad|troquei|ao contr|omgewisseld|verwisseld|omgedraaid|andersom"
)
