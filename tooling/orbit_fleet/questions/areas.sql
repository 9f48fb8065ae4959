-- title: Areas
-- answers: Which tags and features do decisions have, how many, and in how many repositories?
WITH areas AS (
    SELECT repository, record_id, "value" AS area FROM scopes WHERE axis = 'tag'
    UNION
    SELECT repository, id AS record_id, feature AS area FROM records WHERE feature <> ''
)
SELECT a.area, COUNT(*) AS decisions, COUNT(DISTINCT a.repository) AS repositories
FROM areas AS a
JOIN records AS r ON r.repository = a.repository AND r.id = a.record_id
WHERE r.kind = 'adr' AND NOT r.is_copy
GROUP BY a.area
ORDER BY decisions DESC, a.area
