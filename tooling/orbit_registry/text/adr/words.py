"""The words of decision documents in the languages that teams write them in: data alone, no text is read here.

A word that is not listed means nothing: a status that nobody can name stays unknown. Each is in lower case; `plain`
brings what a document says into the form it is looked up in.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Mapping
from typing import TypeVar

from orbit_registry.text.adr.model import Status

Name = TypeVar("Name", bound=str)
_ACCENTS = re.compile(r"[\u0300-\u036f]")


def plain(text: str) -> str:
    """Return a text in lower case and without its accents, so that `Décision` and `DECISION` are one word."""
    lower = text.lower()
    if lower.isascii():
        return lower
    return unicodedata.normalize("NFC", _ACCENTS.sub("", unicodedata.normalize("NFD", lower)))


def _by_word(words: Mapping[Name, str]) -> dict[str, Name]:
    """Turn names with the words for each, cut at commas and line ends, round."""
    pairs = ((plain(word.strip()), name) for name, said in words.items() for word in re.split(r"[,\n]", said))
    return {word: name for word, name in pairs if word}


STATUSES: Mapping[Status, str] = {
    "proposed": """
        proposed, propose, proposal, submitted, draft, drafted, provisional, pending, wip, review, reviewing,
        discussion, rfc, idea, open, hold, deferred, postponed, parked, paused, shelved, stagnant, call, voting,
        undecided, tbd, considering, consideration, candidate, zurückgestellt, verschoben, vertagt, offen, idee,
        arbeit, attente, différé, différée, reporté, reportée, ouvert, ouverte, idée, revue, espera, pausa, aplazado,
        aplazada, pospuesto, pospuesta, diferido, diferida, abierto, abierta, adiado, adiada, aberto, aberta, ideia,
        搁置, 已搁置, 暂缓, 推迟, 已推迟, 延期, 已延期, 想法, 评审, 待评审, 待审核, 審議中, 議論中, 保留, 保留中,
        先送り, アイデア, レビュー, 보류, 연기, vorgeschlagen, vorschlag, entwurf, diskussion, bearbeitung, prüfung,
        proposé, proposée, brouillon, propuesto, propuesta, borrador, revisión, revisão, discusión, discussão,
        proposto, proposta, rascunho, bozza, voorgesteld, concept, zaproponowany, zaproponowana, zaproponowane,
        zaproponowano, föreslagen, föreslaget, utkast, предложено, предложен, предложена, черновик, рассмотрении,
        обсуждении, 提案, 提案中, 建议, 建议中, 已建议, 草案, 草稿, 検討中, ドラフト, 下書き, レビュー中, 提议,
        提议中, 已提议, 提議, 提議中, 讨论中, 評審中, 评审中, 审核中, 待定, 제안, 제안됨, 초안, 검토중
    """,
    "accepted": """
        accepted, accept, approved, implementable, implementing, implemented, merged, adopted, agreed, decided,
        active, ratified, enacted, final, done, current, complete, completed, activated, living, released, finalised,
        finalized, finalizado, finalizada, amended, extended, valid, confirmed, force, kraft, bestätigt, freigegeben,
        vigueur, vigor, 有效, 有効, 유효, akzeptiert, angenommen, beschlossen, entschieden, genehmigt, gültig,
        umgesetzt, implementiert, aktiv, accepté, acceptée, approuvé, approuvée, adopté, adoptée, validé, validée,
        implémenté, implémentée, décidé, aceptado, aceptada, aprobado, aprobada, adoptado, adoptada, implementado,
        implementada, vigente, activo, activa, aceito, aceita, aceite, aprovado, aprovada, adotado, adotada, ativo,
        ativa, decidido, decidida, accettato, accettata, approvato, approvata, adottato, adottata, implementato,
        attivo, geaccepteerd, aanvaard, goedgekeurd, aangenomen, zaakceptowany, zaakceptowana, zaakceptowane,
        zaakceptowano, przyjęty, przyjęta, przyjęte, przyjęto, zatwierdzony, zatwierdzona, accepterad, accepterat,
        godkänd, godkänt, принято, принят, принята, утверждено, утвержден, утверждена, одобрено, внедрено,
        реализовано, действует, 承認, 承認済み, 承認済, 採用, 採用済み, 採択, 決定, 決定済み, 確定, 接受, 已接受,
        已采纳, 采纳, 已採納, 采用, 已采用, 批准, 已批准, 已核准, 通过, 已通过, 已決定, 已决定, 生效, 已生效, 已实施,
        已实现, 승인, 승인됨, 채택, 채택됨, 수락, 수락됨, 확정, 확정됨, shipped
    """,
    "rejected": """
        rejected, reject, declined, refused, withdrawn, abandoned, discarded, cancelled, canceled, denied, dropped,
        wontfix, retiré, retirée, annulé, annulée, retirado, retirada, anulado, anulada, 撤回, 已撤回, 取り下げ, 철회,
        abgelehnt, verworfen, zurückgezogen, zurückgewiesen, rejeté, rejetée, refusé, refusée, abandonné, abandonnée,
        rechazado, rechazada, descartado, descartada, rejeitado, rejeitada, recusado, recusada, cancelado, cancelada,
        rifiutato, rifiutata, respinto, respinta, afgewezen, verworpen, odrzucony, odrzucona, odrzucone, odrzucono,
        avvisad, avslagen, förkastad, отклонено, отклонен, отклонена, отвергнуто, отвергнут, отвергнута, 却下, 棄却,
        不採用, 廃案, 拒绝, 已拒绝, 拒絕, 已拒絕, 否决, 已否决, 已取消, 거부, 거부됨, 기각, 기각됨, 반려, 반려됨
    """,
    "deprecated": """
        discontinued, deprecated, deprecate, retired, obsolete, obsoleted, reverted, removed, archived, sunset,
        rescinded, revoked, repealed, widerrufen, hinfällig, außer, révoqué, révoquée, abrogé, abrogée, revocado,
        revocada, derogado, derogada, revogado, revogada, 撤销, 已撤销, 作废, 已作废, veraltet, überholt, aufgehoben,
        obsolet, obsolète, déprécié, dépréciée, périmé, périmée, obsoleto, obsoleta, deprecado, deprecada, depreciado,
        depreciada, descontinuado, descontinuada, deprecato, deprecata, verouderd, vervallen, przestarzały,
        przestarzała, przestarzałe, föråldrad, устарело, устарел, устарела, устаревшее, отменено, отменен, отменена,
        廃止, 廃止済み, 非推奨, 废弃, 已废弃, 廢棄, 已廢棄, 弃用, 已弃用, 已棄用, 过时, 已过时, 失效, 已失效, 폐기,
        폐기됨, 사용중단
    """,
    "superseded": """
        superseded, superceded, superseeded, overridden, replaced, ersetzt, abgelöst, remplacé, remplacée, reemplazado,
        reemplazada, sustituido, sustituida, supersedido, supersedida, substituído, substituída, sostituito,
        sostituita, vervangen, zastąpiony, zastąpiona, zastąpione, ersatt, заменено, заменен, заменена, 置き換え,
        置き換え済み, 置換, 置換済み, 取代, 已取代, 被取代, 已被取代, 替代, 已替代, 已被替代, 被替代, 대체, 대체됨
    """,
}
"""What a status is called. The first word that names one decides."""

STATUS_OF = _by_word(STATUSES)

NO_STATUS_FOLDERS = frozenset(
    _by_word({"no": """
        archived, open, offen, ouvert, abierto, aberto, done, current, complete, completed, final, active, activa,
        activo, ativo, ativa, aktiv, attivo, review, reviewing, call, hold, idea, discussion, proposal, rfc, removed,
        dropped, released, living, valid, force, merged, concept, arbeit, shipped, decided, candidate, amended, extended
    """})
)  # fmt: skip
"""Words for a status that folders have for other reasons too: work in `done`, a program in `released`."""

NEGATIONS = frozenset(
    _by_word({"no": "not, un, never, no, isn't, aint, nicht, kein, non, pas, não, niet, nie, inte, не, нет, 未, 非"})
)

KEY_OF: Mapping[str, str] = _by_word({
    "status": """
        status, state, decision status, adr status, statut, état, estado, situação, stato, stan, статус, состояние,
        ステータス, 状態, 状态, 狀態, 상태
    """,
    "date": """
        date, created, decided, start date, creation date, decision date, date decided, accepted date, datum, data,
        fecha, date de décision, fecha de decisión, data da decisão, entscheidungsdatum, дата,
        日付, 決定日, 作成日, 日期, 决策日期,
        決策日期, 날짜, 일자, 결정일, 작성일
    """,
    "deciders": """
        decider, deciders, decision-makers, decision-maker, decision makers, decision_makers, decided by, approver,
        approvers, entscheider, entscheidungsträger, beteiligte, décideur, décideurs, décisionnaires, decisor,
        decisores, decisori, responsables, beslissers, decydenci, beslutsfattare, решение приняли, 決定者,
        意思決定者, 决策者, 決策者, 决策人, 결정자, 의사결정자
    """,
    "authors": """
        author, authors, autor, autoren, auteur, auteurs, autores, autore, autori, autorzy, författare, автор,
        авторы, 作成者, 著者, 作者, 작성자
    """,
    "owner": "owner, owners, verantwortlich, responsable, responsável, responsabile",
    "contact": "contact",
    "consulted": "consulted, konsultiert, consultés, consultados, consultati",
    "informed": "informed, informiert, informés, informados, informati",
    "tags": "tag, tags, labels, etiquetas, étiquettes, теги, 标签, 標籤, タグ, 태그",
    "tasks": "task, tasks, ticket, tickets",
    "legacy_ids": "legacy_id, legacy_ids, legacy id, legacy ids",
    "supersedes": """
        supersedes, supercedes, replaces, ersetzt, löst ab, remplace, reemplaza, sustituye, substitui, sostituisce,
        取代, 替代, 置換対象, 대체 대상
    """,
    "superseded_by": """
        superseded by, superceded by, superseded-by, superseded_by, supersededby, overridden by, replaced by,
        ersetzt durch,
        abgelöst durch, nachfolger, remplacé par, remplacée par, successeur, reemplazado por, reemplazada por,
        sustituido por, sustituida por, sucesor, substituído por, substituída por, sucessor, sostituito da,
        sostituita da, successore, vervangen door, successor, 被取代, 已被取代, 取代者, 替代者, 后继, 後継, 後継 adr,
        置換先, 대체됨, 후속, 후속 adr
    """,
    "amends": """
        amends, partially supersedes, partly supersedes, in part supersedes, supersedes in part, ergänzt, ändert,
        ersetzt teilweise, modifie, complète, remplace partiellement, enmienda, emenda
    """,
    "amended_by": """
        partially superseded by, partly superseded by, in part superseded by, superseded in part by,
        partially replaced by, teilweise ersetzt durch, partiellement remplacé par, partiellement remplacée par,
        parcialmente reemplazado por,
        parcialmente sustituido por, parcialmente substituído por, parzialmente sostituito da,
        gedeeltelijk vervangen door, 部分被取代, 부분 대체, 부분 대체됨, 一部置き換え,
        amended by, amended-by, amended_by, amendedby, geändert durch, ergänzt durch, modifié par, modifiée par,
        complété par, complétée par, modificado por, modificada por, alterado por, alterada por, modificato da,
        modificata da
    """,
    "extends": "extends",
    "extended_by": "extended by",
    "related_to": "relates to, relatesto, related, related_to, related adrs, related_adrs",
    "title": "title",
    "name": "name",
    "number": "id, number, adr",
    "page": "slug, permalink",
})  # fmt: skip
"""What the metadata of a decision are called, and the field each is."""


def field_of(key: str) -> str | None:
    """Return the field that a key of a front matter is; `creation-date` and `creation_date` are one."""
    return KEY_OF.get(plain(key)) or KEY_OF.get(plain(re.sub("[-_]", " ", key)))


MONTH_OF: Mapping[str, str] = _by_word({
    "1": "jan, january, januar, janvier, enero, ene, janeiro, gennaio, januari, stycznia, января, январь",
    "2": "feb, february, februar, février, febrero, fevereiro, fev, febbraio, februari, lutego, февраля, февраль",
    "3": "mar, march, märz, mars, marzo, março, maart, marca, марта, март",
    "4": "apr, april, avril, abril, abr, aprile, kwietnia, апреля, апрель",
    "5": "may, mai, mayo, maio, maggio, mei, maj, maja, мая, май",
    "6": "jun, june, juni, juin, junio, junho, giugno, czerwca, июня, июнь",
    "7": "jul, july, juli, juillet, julio, julho, luglio, lipca, июля, июль",
    "8": "aug, august, août, agosto, ago, augustus, augusti, sierpnia, августа, август",
    "9": "sep, sept, september, septembre, septiembre, setembro, set, settembre, września, сентября, сентябрь",
    "10": "oct, october, oktober, okt, octobre, octubre, outubro, out, ottobre, października, октября, октябрь",
    "11": "nov, november, novembre, noviembre, novembro, listopada, ноября, ноябрь",
    "12": "dec, december, dezember, dez, décembre, diciembre, dic, dezembro, dicembre, grudnia, декабря, декабрь",
})  # fmt: skip
"""What the months are called, as a date writes them, and the number of each."""

SECTION_OF: Mapping[str, str] = _by_word({
    "context": """
        context, problem, problem statement, background, motivation, issue, the problem, summary, executive summary,
        overview, abstract, introduction, goals, kontext, hintergrund, problemstellung, ausgangslage, contexte,
        contexto, contesto, contexte et problématique, contexte et énoncé du problème, contexto y problema,
        contexto e problema, problema, problème, resumen, resumo, kontekst, bakgrund, контекст, проблема,
        コンテキスト, 背景, 文脈, 課題, 上下文, 问题, 上下文和问题陈述, 背景与问题, 컨텍스트, 맥락, 배경, 문맥
    """,
    "decision": """
        decision, decisions, decision outcome, outcome, proposal, proposed solution, proposed change,
        proposed changes, proposed change specification, solution, approach, resolution,
        the decision, detailed design, detail design, design, what we decided, decision summary, recommendation,
        proposed design, proposed decision, detailed explanation, detailed explanation and rationale,
        entscheidung, entscheid, beschluss, lösung, décision, décisions,
        résultat de la décision,
        decisión, decisiones, resultado de la decisión, solución, decisão, decisões, resultado da decisão, solução,
        decisione, besluit, beslissing, decyzja, beslut, решение, 決定, 決定事項, 決定内容, 判断, 决策, 决定, 決策,
        决策结果, 方案, 결정, 결정사항
    """,
    "drivers": """
        decision drivers, drivers, forces, requirements, decision criteria, constraints, entscheidungstreiber,
        entscheidungskriterien, anforderungen, facteurs de décision, critères de décision, criterios de decisión,
        factores de decisión, fatores de decisão, direcionadores da decisão, факторы, требования, 決定要因,
        决策驱动因素, 결정 요인
    """,
    "options": """
        considered options, options considered, options, considered alternatives, alternatives,
        alternatives considered, alternative approaches, alternatives rejected, rejected alternatives, alternative,
        alternatives considered and rejected, options and trade-offs, alternative proposals, rationale and alternatives,
        prior art and alternatives,
        betrachtete optionen,
        betrachtete alternativen, alternativen, optionen, options envisagées, solutions envisagées,
        solutions étudiées, options considérées,
        alternatives considérées, alternatives envisagées, opciones consideradas, alternativas consideradas,
        alternativas, opciones, opções consideradas, opções, alternativas avaliadas, alternativas evaluadas,
        considerate, overwogen opties, alternatywy, alternativ, альтернативы, варианты, рассмотренные варианты,
        代替案, 選択肢, 検討した選択肢, 替代方案, 备选方案, 考虑的选项, 備選方案, 대안, 고려한 대안, 고려된 옵션
    """,
    "pros_cons": """
        pros and cons of the options, pros and cons, comparison, evaluation, vor- und nachteile,
        avantages et inconvénients des options, pros y contras, prós e contras, 选项的优缺点, メリットとデメリット
    """,
    "consequences": """
        consequences, consequence, implications, impact, results, effects, result, konsequenzen, folgen,
        auswirkungen, conséquences, consecuencias, consequências, conseguenze, gevolgen, konsekwencje, konsekvenser,
        impacto, impactos, последствия, следствия, 影響, 結果, 帰結, 后果, 影响, 後果, 결과, 영향
    """,
    "positive": """
        positive, positive consequences, pros, benefits, advantages, good, vorteile, positive konsequenzen,
        avantages, positives, conséquences positives, impacts positifs, ventajas, positivas,
        positivos, positivo, vantagens,
        benefícios, vantaggi, voordelen, положительные, плюсы, преимущества, メリット, 利点, 积极影响, 正面影响,
        优点, 優點, 장점, 긍정적
    """,
    "negative": """
        negative, negativ, négatif, négatifs, negativa, negativi, negativt, negatief, negatywne, отрицательное,
        negative consequences, cons, risks, risk, drawbacks, costs, cost, disadvantages, trade-offs,
        tradeoffs, trade-offs and mitigations,
        risks and mitigations, costs and risks, costs and drawbacks, bad, risks and trade-offs, nachteile,
        negative konsequenzen, risiken, kosten, inconvénients, négatives, conséquences négatives, risques, coûts,
        desventajas, negativas, negativos, negativo, riesgos, costes, costos, desvantagens, riscos, custos,
        svantaggi, rischi, nadelen, risico's, wady, ryzyka, nackdelar, risker, отрицательные, минусы, недостатки,
        риски, デメリット, リスク, 欠点, トレードオフ, 消极影响, 负面影响, 缺点, 風險, 风险, 缺點, 단점, 부정적,
        위험, 리스크
    """,
    "neutral": "neutral, neutral consequences, neutrales, neutrais, neutres, neutrali, нейтральные, 中性影响, 중립적",
    "rationale": """
        rationale, why, justification, reasons, reasoning, begründung, justificación, justificativa, motivazione,
        обоснование, 理由, 根拠, 理据, 근거, 이유
    """,
    "confirmation": "confirmation, validation, verification, compliance, how we will know",
    "references": """
        references, reference, links, more information, see also, related, related decisions, related adrs,
        further reading, related work, related documents, related records, referenzen, verweise,
        weitere informationen, références, liens, referencias, enlaces, referências, riferimenti, referenties,
        ссылки, 参考, 参考資料, 関連, 参考资料, 参照, 참고, 참고자료
    """,
    "status": """
        status, decision status, state, statut, état, estado, situação, stato, stan, статус, ステータス, 状態, 状态,
        狀態, 상태
    """,
    "date": "date, decision date, datum, data, fecha, дата, 日付, 日期, 날짜",
    "deciders": """
        deciders, decision makers, decision-makers, entscheider, décideurs, decisores, 決定者, 决策者, 결정자
    """,
    "tags": "tags, labels, keywords, etiquetas",
    "changelog": """
        changelog, change log, history, revision history, version history, status history, änderungshistorie,
        historique, historial, histórico, история изменений, 变更日志, 変更履歴, 변경이력
    """,
    "metadata": """
        metadata, meta, document information, info, metadaten, métadonnées, metadatos, metadados, 元数据,
        メタデータ
    """,
    "amendments": """
        amendments, amendment, updates, update, addendum, addenda, nachträge, nachtrag, ergänzungen, amendements,
        enmiendas, emendas, emendamenti, aanvullingen, uzupełnienia, tillägg, дополнения, 追記, 补充, 補充, 추가 사항
    """,
    "tasks": "task references, tasks, task reference",
})  # fmt: skip
"""What the sections of a decision are called, and the standard name of each."""
