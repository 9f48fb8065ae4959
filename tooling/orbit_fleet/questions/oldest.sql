-- title: Oldest decisions
-- answers: Which decisions hold and were not touched for the longest time, by whom, and which of them name no file?
WITH placed AS (
    SELECT DISTINCT repository, record_id FROM scopes WHERE axis = 'path'
)
SELECT
    r.date AS decided, CONCAT(r.repository, ' ', r.id, ' ', r.title) AS decision, r.author AS by_whom,
    CASE WHEN p.record_id IS NULL THEN 'no file' ELSE '' END AS scope
FROM records AS r
LEFT JOIN placed AS p ON p.repository = r.repository AND p.record_id = r.id
WHERE r.kind = 'adr' AND r.phase = 'live' AND NOT r.is_copy AND r.date IS NOT NULL
ORDER BY decided, decision
