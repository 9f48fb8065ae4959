-- title: Repeated decisions
-- answers: Which decisions did several repositories take, so that the organisation could take them once?
WITH decisions AS (
    SELECT title_key, text_key, repository, id, title FROM records WHERE kind = 'adr' AND phase = 'live' AND NOT negated AND NOT is_copy
), topics AS (
    SELECT 'title' AS alike, title_key AS topic, title_key, repository, id, title
    FROM decisions WHERE title_key IS NOT NULL
    UNION ALL
    SELECT 'text' AS alike, text_key AS topic, COALESCE(title_key, id) AS title_key, repository, id, title
    FROM decisions WHERE text_key IS NOT NULL
)
SELECT
    alike,
    COUNT(DISTINCT repository) AS repositories,
    COUNT(*) AS decisions,
    MIN(title) AS title,
    MIN(CONCAT(repository, ' ', id)) AS first_example,
    MAX(CONCAT(repository, ' ', id)) AS last_example
FROM topics
GROUP BY alike, topic
HAVING COUNT(DISTINCT repository) > 1 AND (
    alike = 'title'
    -- One text may have two titles, but not on two sides of one topic.
    OR COUNT(DISTINCT title_key) > 1 AND COUNT(DISTINCT title_key) = COUNT(DISTINCT SPLIT_PART(title_key, ' | ', 1))
)
ORDER BY repositories DESC, decisions DESC, title, alike
