-- The records that have the words of a question, best first: a title counts four times, the sentence twice, rare words more,
-- and who has all words comes before who has some. `terms` has a row for each word; a question that is an id is looked up before.
WITH terms AS (
    SELECT DISTINCT unnest($terms) AS term
), counted AS (
    SELECT count(*) AS records FROM records WHERE phase = 'live' AND NOT is_copy
), texts AS (
    SELECT
        repository, id, lower(title) AS title, lower(COALESCE(sentence, '')) AS sentence, lower(body) AS body
    FROM records
    WHERE phase = 'live' AND NOT is_copy
), hits AS (
    SELECT
        t.repository, t.id, w.term,
        CASE WHEN contains(t.title, w.term) THEN 4 WHEN contains(t.sentence, w.term) THEN 2 ELSE 1 END AS weight
    FROM texts AS t JOIN terms AS w
        ON contains(t.title, w.term) OR contains(t.sentence, w.term) OR contains(t.body, w.term)
), rare AS (
    SELECT h.term, ln(1 + c.records / count(*)) AS rarity
    FROM hits AS h CROSS JOIN counted AS c
    GROUP BY h.term, c.records
), scores AS (
    SELECT h.repository, h.id, count(*) AS words, sum(h.weight * r.rarity) AS score
    FROM hits AS h JOIN rare AS r USING (term)
    GROUP BY h.repository, h.id
)
SELECT r.repository, r.id, r.kind, r.title, r.sentence, r.url
FROM scores AS s JOIN records AS r USING (repository, id)
ORDER BY s.words DESC, s.score DESC, r.repository, r.id
