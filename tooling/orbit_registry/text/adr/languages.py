"""What new decisions say in the languages that teams write them in: data, and which language headings are in."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from orbit_registry.text.adr.model import Status
from orbit_registry.text.adr.words import STATUS_OF, plain


@dataclass(frozen=True, slots=True)
class Language:
    """What a new decision says in the language of the ones before it: its prompts, and what a status is called."""

    headings: frozenset[str]
    """Words that its sections have and those of no other language here, in lower case."""
    why: str
    what: str
    option: str
    follows: str
    better: str
    cost: str
    harder: str
    statuses: Mapping[Status, str]
    superseded_by: str
    """What stands before the decision that replaced one."""
    amendments: str
    consequences: str
    """The heading of what follows from a decision."""
    words: frozenset[str]
    """What statuses are called in it, these and others, in lower case."""
    keys: frozenset[str]
    """What the key of a status is called in it and in few others."""

    def status(self, status: str, raw: str) -> str:
        """Return a status, `Superseded by X` too, as a document says it whose own is `raw`, in this language or none.

        Where it states its status in English, or in words that nobody knows, the status stays as it is.
        """
        word = re.split(r"[^\w'-]", raw.strip("*_` "), maxsplit=1)[0]
        if raw and (word.lower() in _ENGLISH_STATUSES or plain(word) not in STATUS_OF):
            return status
        said, by, rest = status.partition(" by ")
        called = self.superseded_by if by else next((own for name, own in self.statuses.items() if name == said), "")
        if not called or said.lower() not in _ENGLISH_STATUSES:
            return status
        called = _feminine(called) if word.lower().endswith(("a", "ée")) else called
        return (called if raw[:1].islower() else called[:1].upper() + called[1:]) + (f" {rest}" if by else "")


def _feminine(called: str) -> str:
    """Return a Romance participle as `la decisión` takes it, where the old one was so: `rechazada`, `rejetée par`."""
    word, space, rest = called.partition(" ")
    word = f"{word[:-1]}a" if word.endswith("o") else f"{word}e" if word.endswith("é") else word
    return f"{word}{space}{rest}"


_ENGLISH_STATUSES = frozenset(
    {"proposed", "draft", "pending", "idea", "open", "deferred", "postponed", "accepted", "approved", "implemented",
     "adopted", "agreed", "decided", "active", "final", "done", "current", "valid", "rejected", "declined",
     "withdrawn", "deprecated", "retired", "obsolete", "rescinded", "revoked", "superseded", "superceded", "overridden",
     "replaced"}
)  # fmt: skip


def _language(headings: str, asked: str, said: str, others: str) -> Language:
    """Return a language from its headings, its seven prompts and what it says, each cut at `|` or a comma.

    `others` are further words for statuses and, after a semicolon, keys of a status.

    It says the five statuses, what stands before the decision that replaced one, and the headings of amendments and
    of consequences.
    """
    names: tuple[Status, ...] = ("proposed", "accepted", "rejected", "deprecated", "superseded")
    words = frozenset(word.strip() for word in headings.split(","))
    why, what, option, follows, better, cost, harder = asked.split("|")
    *statuses, superseded_by, amendments, consequences = said.split(", ")
    called = dict(zip(names, statuses, strict=True))
    more, _, keys = others.partition(";")
    known = frozenset((*statuses, *(word.strip() for word in more.split(","))))
    own = frozenset(key.strip() for key in keys.split(",") if key.strip())
    return Language(
        words, why, what, option, follows, better, cost, harder, called, superseded_by, amendments, consequences,
        known, own,
    )  # fmt: skip


LANGUAGES: tuple[Language, ...] = (
    _language(
        "kontext, entscheidung, konsequenzen, folgen, hintergrund, problemstellung, beschluss, ausgangslage",
        "Warum braucht es hier eine Entscheidung?|Was wird entschieden?|Eine Möglichkeit, die erwogen wurde.|"
        "Was folgt daraus?|Was wird besser?|Kosten|was wird dadurch schwerer?",
        "vorgeschlagen, akzeptiert, abgelehnt, veraltet, ersetzt, ersetzt durch, Nachträge, Konsequenzen",
        "vorschlag, entwurf, zurückgestellt, vertagt, angenommen, beschlossen, entschieden, genehmigt, gültig, "
        "umgesetzt, bestätigt, freigegeben, verworfen, zurückgezogen, überholt, aufgehoben, obsolet, abgelöst",
    ),
    _language(
        "contexte, décision, conséquences, problème",
        "Pourquoi faut-il décider ici ?|Qu'est-ce qui est décidé ?|Une option envisagée.|"
        "Qu'en résulte-t-il ?|Qu'est-ce qui s'améliore ?|Coût|qu'est-ce que cela rend plus difficile ?",
        "proposé, accepté, rejeté, obsolète, remplacé, remplacé par, Amendements, Conséquences",
        "proposée, brouillon, acceptée, approuvé, approuvée, adopté, adoptée, validé, validée, rejetée, refusé, "
        "refusée, abandonné, abandonnée, déprécié, dépréciée, périmé, remplacée; statut, état",
    ),
    _language(
        "decisión, consecuencias",
        "¿Por qué hace falta decidir aquí?|¿Qué se decide?|Una opción considerada.|"
        "¿Qué se sigue de ello?|¿Qué mejora?|Costo|¿qué se vuelve más difícil?",
        "propuesto, aceptado, rechazado, obsoleto, reemplazado, reemplazado por, Enmiendas, Consecuencias",
        "propuesta, borrador, aceptada, aprobado, aprobada, vigente, rechazada, obsoleta, deprecado, deprecada, "
        "reemplazada, sustituido, sustituida; estado",
    ),
    _language(
        "decisão, decisões, consequências",
        "Por que é preciso decidir aqui?|O que foi decidido?|Uma opção considerada.|"
        "O que decorre disso?|O que melhora?|Custo|o que fica mais difícil?",
        "proposto, aceito, rejeitado, obsoleto, substituído, substituído por, Emendas, Consequências",
        "proposta, rascunho, aceita, aceite, aprovado, aprovada, adotado, adotada, rejeitada, recusado, recusada, "
        "obsoleta, substituída; situação, estado",
    ),
    _language(
        "contesto, decisione, conseguenze",
        "Perché serve una decisione?|Che cosa si decide?|Un'opzione considerata.|"
        "Che cosa ne segue?|Che cosa migliora?|Costi|che cosa diventa più difficile?",
        "proposto, accettato, rifiutato, deprecato, sostituito, sostituito da, Emendamenti, Conseguenze",
        "proposta, bozza, accettata, approvato, approvata, adottato, adottata, rifiutata, respinto, respinta, "
        "obsoleto, obsoleta, deprecata, sostituita; stato",
    ),
    _language(
        "besluit, beslissing, gevolgen",
        "Waarom is hier een beslissing nodig?|Wat wordt besloten?|Een overwogen optie.|"
        "Wat volgt hieruit?|Wat wordt beter?|Kosten|wat wordt hierdoor moeilijker?",
        "voorgesteld, geaccepteerd, afgewezen, verouderd, vervangen, vervangen door, Aanvullingen, Gevolgen",
        "aanvaard, goedgekeurd, aangenomen, verworpen, vervallen",
    ),
    _language(
        "kontekst, decyzja, konsekwencje",
        "Dlaczego potrzebna jest decyzja?|Co zostaje postanowione?|Rozważana opcja.|"
        "Co z tego wynika?|Co się poprawia?|Koszty|co staje się trudniejsze?",
        "zaproponowano, zaakceptowano, odrzucono, przestarzałe, zastąpione, zastąpione przez, Uzupełnienia, "
        "Konsekwencje",
        "przyjęto, przyjęta, przyjęty, zatwierdzono, zatwierdzona, zaakceptowana, zaakceptowany, odrzucona, "
        "odrzucony, zastąpiona, zastąpiony; stan",
    ),
    _language(
        "bakgrund, beslut, konsekvenser",
        "Varför behövs ett beslut här?|Vad beslutas?|Ett alternativ som övervägdes.|"
        "Vad följer av det?|Vad blir bättre?|Kostnad|vad blir svårare?",
        "föreslaget, accepterat, avslagen, föråldrad, ersatt, ersatt av, Tillägg, Konsekvenser",
        "föreslagen, utkast, accepterad, godkänd, godkänt, avvisad, förkastad",
    ),
    _language(
        "контекст, проблема, решение, последствия, следствия",
        "Почему здесь нужно решение?|Что решено?|Рассмотренный вариант.|"
        "Что из этого следует?|Что станет лучше?|Стоимость|что станет труднее?",
        "предложено, принято, отклонено, устарело, заменено, заменено на, Дополнения, Последствия",
        "предложен, предложена, черновик, принят, принята, утверждено, утвержден, утверждена, одобрено, отклонен, "
        "отклонена, устарел, устарела, отменено, заменен, заменена; статус",
    ),
    _language(
        "コンテキスト, 文脈, 決定, 決定事項, 決定内容, 帰結, 結果",
        "なぜここで決定が必要なのか。|何を決めるのか。|検討した選択肢。|"
        "何が起こるか。|何が良くなるか。|コスト|何が難しくなるか。",
        "提案, 承認, 却下, 非推奨, 置換, 置換済み:, 追記, 結果",
        "提案中, 検討中, ドラフト, 下書き, 承認済み, 承認済, 採用, 採用済み, 採択, 決定, 決定済み, 確定, "
        "棄却, 不採用, 廃止, 廃止済み, 置き換え, 置換済み; ステータス, 状態",
    ),
    _language(
        "上下文, 决策, 决定, 決策, 后果, 後果, 影响, 问题",
        "为什么需要做这个决定？|决定了什么？|考虑过的方案。|"
        "由此带来什么？|什么会变好？|成本|什么会变得更难？",
        "提议, 已接受, 已拒绝, 已废弃, 已取代, 已被取代:, 补充, 后果",
        "建议, 已建议, 草案, 草稿, 提议中, 已提议, 讨论中, 接受, 已采纳, 采纳, 批准, 已批准, 通过, 已通过, "
        "生效, 已生效, 已实施, 拒绝, 否决, 已否决, 废弃, 弃用, 已弃用, "
        "过时, 已过时, 取代, 替代, 已替代, 已被取代; 状态",
    ),
    _language(
        "컨텍스트, 맥락, 배경, 결정, 결정사항, 결과, 영향",
        "왜 여기서 결정이 필요한가?|무엇을 결정하는가?|검토한 대안.|"
        "그 결과는 무엇인가?|무엇이 나아지는가?|비용|무엇이 더 어려워지는가?",
        "제안, 승인, 거부, 폐기, 대체, 대체됨:, 추가 사항, 결과",
        "제안됨, 초안, 검토중, 승인됨, 채택, 채택됨, 수락, 수락됨, 확정, 거부됨, 기각, 기각됨, 반려, "
        "폐기됨, 대체됨; 상태",
    ),
)  # fmt: skip


def language_of(headings: Iterable[str]) -> Language | None:
    """Return the language that most of some headings are in; None for English, and where none is known."""
    said = [heading.strip().lower() for heading in headings]  # with its accents: without them `décision` is English
    words = {*said, *(word for heading in said for word in re.findall(r"[^\W\d_]+", heading))}
    found = [(len(words & language.headings), language) for language in LANGUAGES]
    count, best = max(found, key=lambda one: one[0])
    return best if count else None


def language_of_status(raw: str, key: str, headings: Iterable[str]) -> Language | None:
    """Return the language that a status is written in: by its word, then its key (`Estado`), then the headings.

    None where the word is English, or that of several languages that nothing tells apart.
    """
    first = re.split(r"[^\w'-]", raw.strip("*_`~ "), maxsplit=1)[0].lower()
    named = language_of(headings)
    if not first or first in _ENGLISH_STATUSES:
        return named
    found = [language for language in LANGUAGES if first in language.words]
    by_key = [language for language in found if key.strip("*_`:： \t-").lower() in language.keys]
    if named in found or not found:
        return named
    return next((some[0] for some in (by_key, found) if len(some) == 1), None)
