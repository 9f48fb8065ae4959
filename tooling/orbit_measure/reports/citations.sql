-- Pairs of a commit and a record that it cites. Each count but the first two is a part of an earlier one.
WITH met AS (
    SELECT
        c.*,
        c.could AND EXISTS (FROM shown AS s WHERE s.step = c.step AND s.uid = c.uid) AS was_shown,
        c.has_scope AND EXISTS (FROM applied AS a WHERE a.step = c.step AND a.uid = c.uid) AS is_reached
    FROM cited AS c
), displayed AS (
    SELECT step, sum(shown) AS records FROM edits WHERE length = 1 GROUP BY step
), citing AS (
    -- `expected`: how many of the records would be cited if as many with a scope were drawn at random.
    SELECT
        d.records,
        d.records * count(*) FILTER (m.has_scope) / nullif(s.scoped, 0) AS expected
    FROM met AS m
    JOIN steps AS s ON s.step = m.step
    JOIN displayed AS d ON d.step = m.step
    WHERE m.could
    GROUP BY m.step, s.scoped, d.records
), counted AS (
    SELECT
        (SELECT count(*) FROM citing) AS commits,
        count(*) AS cited,
        count(*) FILTER (NOT could) AS not_yet,
        count(*) FILTER (could) AS standing,
        count(*) FILTER (has_scope) AS scoped,
        count(*) FILTER (is_reached) AS reached,
        count(*) FILTER (was_shown) AS shown,
        count(*) FILTER (was_shown AND by_id) AS shown_by_id,
        (SELECT coalesce(sum(records), 0)::BIGINT FROM citing) AS shown_in_citing
    FROM met
)
SELECT
    *,
    share(shown, shown_in_citing) AS precision,
    share((SELECT sum(expected) FROM citing), shown_in_citing) AS precision_by_chance,
    share(shown, scoped) AS recall,
    share(shown, reached) AS recall_reached
FROM counted;
