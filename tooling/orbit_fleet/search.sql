-- The records that have the words of a question, best first. `texts` says what each word counts in a record, and words weigh
-- as the core's search weighs them (BM25F). Who has more of the words comes first. A question that is an id is looked up before.
WITH asked AS (
    SELECT DISTINCT UNNEST($terms) AS term
), chosen AS (
    SELECT repository, record_id, terms, "length" FROM texts WHERE phase = $phase AND NOT is_copy
), total AS (
    SELECT COUNT(*) AS texts, AVG("length") AS "length" FROM chosen
), hits AS (
    SELECT
        l.repository, l.record_id, a.term, l."length",
        CAST(SPLIT_PART(SPLIT_PART(l.terms, CONCAT(' ', a.term, ':'), 2), ' ', 1) AS DOUBLE) AS n
    FROM chosen AS l
    JOIN asked AS a ON CONTAINS(l.terms, CONCAT(' ', a.term, ':'))
), worths AS (
    SELECT h.term, LN(1 + (t.texts - COUNT(*) + 0.5) / (COUNT(*) + 0.5)) AS worth
    FROM hits AS h
    CROSS JOIN total AS t
    GROUP BY h.term, t.texts
), scores AS (
    SELECT
        h.repository, h.record_id, COUNT(*) AS words,
        SUM(w.worth * h.n / (h.n + $k1 * (1 - $b + $b * h."length" / t."length"))) AS score
    FROM hits AS h
    JOIN worths AS w ON w.term = h.term
    CROSS JOIN total AS t
    GROUP BY h.repository, h.record_id
)
SELECT r.repository, r.id, r.kind, r.title, r.status, r.sentence, r.url
FROM scores AS s
JOIN records AS r ON r.repository = s.repository AND r.id = s.record_id
ORDER BY s.words DESC, ROUND(s.score, 6) DESC, r.repository, r.id
