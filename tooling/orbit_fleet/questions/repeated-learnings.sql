-- title: Learnings that were learned more than once
-- answers: Which learnings do several repositories have, so that one of them could become an organisation's rule?
WITH learned AS (
    SELECT title_key, text_key, repository, id, title, negated FROM records WHERE kind = 'learning' AND phase = 'live' AND NOT is_copy
), topics AS (
    SELECT 'title' AS alike, title_key AS topic, title_key, negated, repository, id, title
    FROM learned WHERE title_key IS NOT NULL
    UNION ALL
    SELECT 'text' AS alike, text_key AS topic, COALESCE(title_key, id) AS title_key, negated, repository, id, title
    FROM learned WHERE text_key IS NOT NULL
), counts AS (
    SELECT repository, record_id, COUNT(*) AS votes FROM votes GROUP BY repository, record_id
)
SELECT
    t.alike,
    COUNT(DISTINCT t.repository) AS repositories,
    SUM(COALESCE(c.votes, 0)) AS votes,
    MIN(t.title) AS title,
    MIN(CONCAT(t.repository, ' ', t.id)) AS first_example,
    MAX(CONCAT(t.repository, ' ', t.id)) AS last_example
FROM topics AS t
LEFT JOIN counts AS c ON c.repository = t.repository AND c.record_id = t.id
GROUP BY t.alike, t.topic, t.negated
HAVING COUNT(DISTINCT t.repository) > 1 AND (
    t.alike = 'title'
    -- One text may have two titles, but not on two sides of one topic.
    OR COUNT(DISTINCT t.title_key) > 1 AND COUNT(DISTINCT t.title_key) = COUNT(DISTINCT SPLIT_PART(t.title_key, ' | ', 1))
)
ORDER BY repositories DESC, votes DESC, title, t.alike
