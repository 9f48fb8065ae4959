"""What a status says, in every wording that was met so far."""

from __future__ import annotations

import pytest

from orbit_registry.text.adr import normalise_status

WORDINGS = [
    ("accepted", "accepted", []),
    ("Accepted.", "accepted", []),
    ("**Accepted**", "accepted", []),
    ("✅ ACCEPTED", "accepted", []),
    ("`accepted`", "accepted", []),
    ("Approved.", "accepted", []),
    ("Implemented (moved to another repository)", "accepted", []),
    ("Partially Accepted", "accepted", []),
    ("Accepted (with open question)", "accepted", []),
    ("Accepted: Tracking issue [\\#3297].", "accepted", []),
    ("{proposed}", "proposed", []),
    ("proposed | partially superseded by [008](008-x.md)", "proposed", [("amended_by", "008-x.md")]),
    ("⌛️ Superseded [0019](0019-x.md)", "superseded", [("superseded_by", "0019-x.md")]),
    ("Draft.", "proposed", []),
    ("In Review.", "proposed", []),
    ("in-progress", "proposed", []),
    ("WIP", "proposed", []),
    ("**Active review (May 4...May 18)**", "proposed", []),
    ("Status: Active Review", "proposed", []),
    ("Scheduled for review", "proposed", []),
    ("Ready for Review", "proposed", []),
    ("Final comment period", "proposed", []),
    ("Current draft", "proposed", []),
    ("Active", "accepted", []),
    ("Final, after a review in May", "accepted", []),
    ("Pending", "proposed", []),
    ("under discussion", "proposed", []),
    ("Submitted, 2017-01-26", "proposed", []),
    ("Declined", "rejected", []),
    ("**Proposed**, Accepted, Implemented, Obsolete", "proposed", []),
    ("Proposed, **Accepted**, Implemented, Obsolete", "accepted", []),
    ("Proposed / Accepted / _Deprecated_", "deprecated", []),
    ("Proposed, Accepted, Implemented, Obsolete", "unknown", []),
    ("Vorgeschlagen | **Akzeptiert** | Abgelehnt", "accepted", []),
    ("~~Proposed~~ Accepted", "accepted", []),
    ("~~Accepted~~ Superseded by ADR-0009", "superseded", [("superseded_by", "ADR-0009")]),
    ("Proposed → Accepted", "accepted", []),
    ("[![Generic badge](https://badgen.net/badge/ADR/approved/green/)](https://example.org)", "accepted", []),
    ("被 ADR-045 取代", "superseded", [("superseded_by", "ADR-045")]),
    ("废弃。正在讨论替代方案", "deprecated", []),
    ("ADR-0045 に置き換え", "superseded", [("superseded_by", "ADR-0045")]),
    ("Accepted, implemented", "accepted", []),
    ("Vorgeschlagen", "proposed", []),
    ("En revisión", "proposed", []),
    ("Accepté le 3 mars", "accepted", []),
    ("**Aceita** ✅", "accepted", []),
    ("Не принято", "unknown", []),
    ("未承認", "unknown", []),
    ("承認済み", "accepted", []),
    ("已被取代", "superseded", []),
    ("기각됨", "rejected", []),
    ("Teilweise ersetzt durch ADR-0009", "accepted", [("superseded_by", "ADR-0009")]),
    ("Remplacée par ADR-0009", "superseded", [("superseded_by", "ADR-0009")]),
    ("Substituído por [ADR-9](0009-x.md)", "superseded", [("superseded_by", "0009-x.md")]),
    ("withdrawn", "rejected", []),
    ("Deprecated (no superseding ADR)", "deprecated", []),
    ("Reverted", "deprecated", []),
    ("retired (PR #12)", "deprecated", []),
    ("superseded", "superseded", []),
    ("Superceded by [10. AsciiDoc](0010-asciidoc.md)", "superseded", [("superseded_by", "0010-asciidoc.md")]),
    ("superseded by ADR-0057", "superseded", [("superseded_by", "ADR-0057")]),
    ("Superseded by [ADR-0042]", "superseded", [("superseded_by", "ADR-0042")]),
    ("superseded by 0042", "superseded", [("superseded_by", "0042")]),
    ("Superseded by `feature/ADR-001`", "superseded", [("superseded_by", "feature/ADR-001")]),
    (
        "Superseded by [ADR-1](a.md) and [ADR-2](b.md) (the rest)",
        "superseded",
        [("superseded_by", "a.md"), ("superseded_by", "b.md")],
    ),
    ("retired by [0037](0037-x.md)", "superseded", [("superseded_by", "0037-x.md")]),
    ("accepted; supersedes ADR-0045", "accepted", [("supersedes", "ADR-0045")]),
    ("Accepted, amends ADR-2 and ADR-3", "accepted", [("amends", "ADR-2"), ("amends", "ADR-3")]),
    ("proposed; amended-in-part by [0240](0240-icon.md)", "proposed", [("amended_by", "0240-icon.md")]),
    ("amended-in-part by [0042](a.md), [0043](b.md)", "accepted", [("amended_by", "a.md"), ("amended_by", "b.md")]),
    ("superseded-in-part by [0041](c.md)", "accepted", [("amended_by", "c.md")]),
    ("superseded by [3](d.md) (was: amended by [4](e.md))", "superseded", [("superseded_by", "d.md")]),
    ("Rejected in favour of ADR 111", "rejected", [("related_to", "ADR 111")]),
    ("{proposed | rejected | accepted | superseded by ADR-0123}", "unknown", []),
    ("{Deprecated|Proposed|Accepted}", "unknown", []),
    ("<!-- accepted -->", "unknown", []),
    ("not accepted", "unknown", []),
    ("Experimental", "unknown", []),
    ("Closed", "unknown", []),
    ("Moved", "unknown", []),
    ("Not in force", "unknown", []),
    ("No longer in force", "unknown", []),
    ("Nicht in Kraft", "unknown", []),
    ("moot", "unknown", []),
    *(
        (said, "proposed", [])
        for said in (
            "on hold",
            "Deferred",
            "Postponed until Q3",
            "Stagnant",
            "Idea",
            "Last Call",
            "Open",
            "Under consideration",
            "Zurückgestellt",
            "In Arbeit",
            "Vertagt",
            "En attente",
            "Différée",
            "Reporté",
            "En espera",
            "Aplazada",
            "Em espera",
            "Adiado",
            "搁置",
            "已推迟",
            "待评审",
            "保留中",
            "延期",
            "審議中",
            "보류",
        )
    ),
    *(
        (said, "accepted", [])
        for said in (
            "Living",
            "Final",
            "Accepted with changes",
            "Adopted with changes",
            "In force",
            "Confirmed",
            "In Kraft",
            "Bestätigt",
            "En vigueur",
            "En vigor",
            "Em vigor",
            "有效",
            "有効",
        )
    ),
    *(
        (said, "rejected", [])
        for said in (
            "Withdrawn",
            "Dropped",
            "Retiré",
            "Annulée",
            "Retirada",
            "Anulado",
            "已撤回",
            "撤回",
            "取り下げ",
            "철회",
        )
    ),
    *(
        (said, "deprecated", [])
        for said in (
            "Obsolete",
            "Rescinded",
            "Revoked",
            "Außer Kraft",
            "Widerrufen",
            "Abrogée",
            "Derogado",
            "Revogada",
            "已作废",
            "撤销",
        )
    ),
    *(
        (said, "superseded", [("superseded_by", "ADR-9")])
        for said in (
            "Durch ADR-9 ersetzt",
            "Überholt durch ADR-9",
            "Sostituita dall'ADR-9",
            "Reemplazada por ADR-9",
            "已被 ADR-9 取代",
            "由 ADR-9 替代",
            "已被取代：ADR-9",
            "ADR-9 により置き換え",
            "ADR-9によって置き換えられた",
            "ADR-9로 대체됨",
            "ADR-9에 의해 대체됨",
            "대체됨: ADR-9",
        )
    ),
    *(
        (said, "accepted", [("supersedes", "ADR-3")])
        for said in (
            "Akzeptiert, ersetzt ADR-3",
            "Acceptée (remplace ADR-3)",
            "Accettata; sostituisce ADR-3",
            "Aceita, substitui ADR-3",
            "Aceptada, reemplaza ADR-3",
            "已接受，取代 ADR-3",
            "已接受，本决策取代了 ADR-3",
            "承認済み (ADR-3 を置き換える)",
            "승인됨, ADR-3을 대체",
        )
    ),
    *(
        (said, "accepted", [("amended_by", "ADR-4")])
        for said in (
            "Akzeptiert; ergänzt durch ADR-4",
            "Acceptée, modifiée par ADR-4",
            "Accettata, modificata da ADR-4",
            "Aceita, alterada por ADR-4",
            "Aceptada; modificada por ADR-4",
            "已接受（由 ADR-4 补充）",
            "承認済み。ADR-4 により改訂",
            "승인됨 (ADR-4에 의해 보완)",
        )
    ),
    ("Ersetzt ADR-3", "unknown", [("supersedes", "ADR-3")]),
    ("取代 ADR-3", "unknown", [("supersedes", "ADR-3")]),
    ("被 ADR-8 和 [九](9.md) 取代", "superseded", [("superseded_by", "ADR-8"), ("superseded_by", "9.md")]),
    ("Superseded 2020-01-01", "superseded", []),
    ("2020-05-05 に廃止", "unknown", []),
    ("Superseded by [[0009-x]]", "superseded", [("superseded_by", "0009-x")]),
    ("Superseded by [[adr/0009-x#Decision|the new one]]", "superseded", [("superseded_by", "adr/0009-x")]),
    ("The two points above have been accepted", "unknown", []),
    ("", "unknown", []),
]


@pytest.mark.parametrize(("raw", "status", "targets"), WORDINGS, ids=[raw[:40] for raw, _, _ in WORDINGS])
def test_a_status_is_understood_or_unknown(raw: str, status: str, targets: list[tuple[str, str]]) -> None:
    """The first status word decides, targets are kept as written, and nothing is invented."""
    found, related = normalise_status(raw)

    assert (found, list(related)) == (status, targets)
