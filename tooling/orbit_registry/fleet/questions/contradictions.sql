-- title: Contradictions between repositories
-- answers: On which topics does one repository do what another one refuses?
WITH positions AS (
    SELECT
        title_key AS topic, repository, id, title,
        CASE WHEN phase = 'live' AND NOT negated THEN 1 ELSE 0 END AS is_for,
        CASE WHEN phase = 'live' AND negated OR status IN ('rejected', 'deprecated') AND NOT negated THEN 1 ELSE 0 END AS is_against
    FROM records
    WHERE kind IN ('adr', 'rule', 'learning') AND title_key IS NOT NULL
    UNION ALL
    SELECT o.option_key, o.repository, o.record_id, o.option, 0, 1
    FROM rejected AS o
    JOIN records AS r ON r.repository = o.repository AND r.id = o.record_id
    WHERE r.phase = 'live' AND o.option_key IS NOT NULL
)
SELECT
    topic,
    COUNT(DISTINCT CASE WHEN is_for = 1 THEN repository END) AS repositories_for,
    COUNT(DISTINCT CASE WHEN is_against = 1 THEN repository END) AS repositories_against,
    MIN(CASE WHEN is_for = 1 THEN CONCAT(repository, ' ', id, ' ', title) END) AS example_for,
    MIN(CASE WHEN is_against = 1 THEN CONCAT(repository, ' ', id, ' ', title) END) AS example_against
FROM positions
WHERE is_for = 1 OR is_against = 1
GROUP BY topic
HAVING MAX(is_for) = 1 AND MAX(is_against) = 1 AND COUNT(DISTINCT repository) > 1
ORDER BY repositories_for + repositories_against DESC, topic
