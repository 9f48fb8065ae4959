-- title: Members that need a look
-- answers: Which repository failed, was never read, has no decision, or documents that can't be read, was silent for 30 days, is archived, counted twice, or no longer in any list?
WITH newest AS (
    SELECT MAX(last_seen_at) AS last_seen_at FROM repositories
), known AS (
    SELECT
        m.repository, m.records, m.commit, m.last_seen_at, m.committed_at, m.orbit_version, m.renamed_from, m.copy_of, m.left_out,
        CASE
            WHEN m.error <> '' AND m.commit = '' THEN 'never read'
            WHEN m.error <> '' THEN 'failed'
            WHEN m.is_copy THEN 'counted twice'
            WHEN m.is_archived THEN 'archived'
            WHEN NOT m.is_expected AND m.reader <> 'orbit' THEN 'in no list'
            WHEN SUBSTR(m.last_seen_at, 1, 10) < CAST(CAST(SUBSTR(n.last_seen_at, 1, 10) AS DATE) - INTERVAL 30 DAY AS VARCHAR)
                THEN 'silent'
            WHEN m.records = 0 THEN 'without decisions'
            WHEN m.left_out <> '' THEN 'documents left out'
            WHEN m.renamed_from <> '' THEN 'renamed'
        END AS state,
        m.error
    FROM repositories AS m CROSS JOIN newest AS n
)
SELECT
    k.state, k.repository, k.records, SUBSTR(k.last_seen_at, 1, 10) AS last_seen, k.orbit_version,
    CASE
        WHEN k.state = 'counted twice' THEN CONCAT('has the first commit of ', k.copy_of)
        WHEN k.state = 'documents left out' THEN k.left_out
        WHEN k.state = 'renamed' THEN CONCAT(k.renamed_from, ' before')
        ELSE k.error
    END AS detail
FROM known AS k
WHERE k.state IS NOT NULL
ORDER BY k.state, k.repository
