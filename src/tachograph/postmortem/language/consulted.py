"""What says, in seven languages, that a source was consulted, or that it confirms something; and what says that a source cannot be had."""

from __future__ import annotations

import re

#: Somebody looked something up, or something is confirmed by a source.
CONSULTED = re.compile(
    r"\b(?:I|we)(?:['’]ve| have)? (?:(?:also|then|just|double|cross)[ -]){0,2}(?:checked|consulted|looked|verified|confirmed|searched|queried)\b|\b(?:confirmed|verified|corroborated|backed|checked) (?:by|with|against|in)\b"
    r"|\b(?:eingesehen|nachgeschlagen|konsultiert|abgefragt|abgeglichen|überprüft|geprüft)\b|\bbestätigt (?:durch|vom|von|im|laut)\b|\b(?:vom|von der|durch|im) [^.\n]{3,60} bestätigt\b"
    r"|\bhe (?:consultado|verificado|comprobado|revisado|contrastado)\b|\b(?:consulté|verifiqué|comprobé)\b|\b(?:confirmad|verificad|contrastad)[oa]s? (?:por|con|en)\b"
    r"|\bj['’]ai (?:consulté|vérifié|contrôlé|recoupé)\b|\b(?:confirmé|vérifié)e?s? (?:par|dans|auprès)\b"
    r"|\b(?:ho|abbiamo) (?:consultato|verificato|controllato)\b|\b(?:confermat|verificat)[oaie] (?:da|dal|dalla|dallo|dall['’]|nel|presso)"
    r"|\b(?:consultei|verifiquei|conferi|confirmei)\b|\b(?:confirmad|verificad)[oa]s? (?:por|pel[oa]|n[oa]|com)\b"
    r"|\b(?:geraadpleegd|gecontroleerd|nagekeken|nageslagen)\b|\bbevestigd door\b|\bdoor [^.\n]{3,60} bevestigd\b",
    re.IGNORECASE,
)
#: A source cannot be had: it is closed, gone, or was not found.
CLOSED = re.compile(
    r"\b(?:not|n['’]t|no longer) (?:be )?(?:public\w*|open|available|accessible|reachable|found|online|opened|reached|accessed)\b|\bno (?:public|online|open) \w+|\b(?:only|reserved|restricted|open) (?:to|for|by|accessible to) (?:\w+ )?(?:members|subscribers|staff|registered|licen[sc]ed|authori[sz]ed)\b"
    r"|\b(?:members|subscribers) only\b|\b(?:log[- ]?in|sign[- ]?in|subscription|registration) (?:is )?(?:required|needed)\b|\b(?:paywall\w*|unavailable|unreachable|inaccessible|offline)\b|\b(?:403|404|401)\b"
    r"|\bnicht (?:öffentlich|verfügbar|zugänglich|gefunden|erreichbar|einsehbar|abrufbar)\b|\bnur (?:für|von) \w+|\bkein\w* öffentlich\w*|\bunzugänglich\b"
    r"|\bno (?:es|está|son) (?:públic\w+|accesible\w*|disponible\w*)|\bno (?:se )?(?:encontr\w+|existe|hay)\b|\b(?:solo|sólo|únicamente) (?:para|por|a)\b|\b(?:inaccesible|restringid\w+)\b"
    r"|\b(?:n['’]est|ne sont|n['’]existe) pas\b|\bpas (?:publi\w+|disponible\w*|accessible\w*|trouvé\w*)\b|\b(?:réservée?s?|introuvables?|indisponibles?|inaccessibles?)\b"
    r"|\bnon (?:(?:è|sono) )?(?:pubblic\w+|disponibil\w+|accessibil\w+|trovat\w+|raggiungibil\w+|consultabil\w+)\b|\bnon esiste\b|\bsolo (?:da|dagli|dai|per|agli|ai)\b|\briservat[oaie]\b"
    r"|\bnão (?:é|está|são) (?:públic\w+|disponíve\w+|acessíve\w+)|\bnão (?:foi )?(?:encontr\w+|existe|há)\b|\b(?:apenas|só|somente) (?:para|por)\b|\brestrit[oa]s?\b"
    r"|\bniet (?:openbaar|beschikbaar|toegankelijk|gevonden|bereikbaar)\b|\balleen (?:voor|door)\b",
    re.IGNORECASE,
)
_MAY_CLOSE = re.compile(r"\b(?:not?|n['’]t|only|40[134]|nicht|nur|kein\w*|solo|sólo|pas|non|não|só|apenas|somente|niet|alleen)\b|unavail|unreach|inacc|offline|paywall|required|unzug|réserv|introuv|indispo|restri|riserv|únicam", re.IGNORECASE)  # fmt: skip


def closed(text: str) -> bool:
    """Whether a text says that something cannot be had."""
    return _MAY_CLOSE.search(text) is not None and CLOSED.search(text) is not None
