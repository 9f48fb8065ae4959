-- title: Live decisions by repository
-- answers: How many decisions hold in each repository, how many name no file and no deciders, and how many are older than two years?
WITH newest AS (
    SELECT MAX(committed_at) AS committed_at FROM repositories
), placed AS (
    SELECT DISTINCT repository, record_id FROM scopes WHERE axis = 'path'
)
SELECT
    r.repository,
    COUNT(*) AS decisions,
    SUM(CASE WHEN p.record_id IS NULL THEN 1 ELSE 0 END) AS without_a_path,
    SUM(CASE WHEN COALESCE(r.author, '') = '' THEN 1 ELSE 0 END) AS without_an_author,
    SUM(
        CASE
            WHEN r.date < CAST(CAST(SUBSTR(n.committed_at, 1, 10) AS DATE) - INTERVAL 2 YEAR AS VARCHAR) THEN 1
            ELSE 0
        END
    ) AS older_than_two_years,
    MIN(r.date) AS oldest,
    MAX(r.date) AS newest
FROM records AS r
CROSS JOIN newest AS n
LEFT JOIN placed AS p ON p.repository = r.repository AND p.record_id = r.id
WHERE r.kind = 'adr' AND r.phase = 'live' AND NOT r.is_copy
GROUP BY r.repository
ORDER BY without_a_path DESC, r.repository
