-- title: Decisions of the organisation that are overridden
-- answers: Which decision of another repository does a record override, contradict, amend or supersede, and where?
WITH against AS (
    SELECT
        target, SPLIT_PART(target, ':', 1) AS source, SPLIT_PART(target, ':', 2) AS source_id, rel, repository, record_id, reason
    FROM links
    WHERE rel IN ('overrides', 'contradicts', 'amends', 'supersedes') AND target LIKE '%:%' AND target NOT LIKE '%://%'
), sources AS (
    -- A source may be named without the first part of its name: `org` is acme/org.
    SELECT s.source, m.repository
    FROM (SELECT DISTINCT source FROM against) AS s
    JOIN repositories AS m ON m.repository = s.source OR m.repository LIKE CONCAT('%/', s.source)
), originals AS (
    SELECT s.source, o.id, o.repository, o.title
    FROM records AS o
    JOIN sources AS s ON s.repository = o.repository
)
SELECT
    a.target AS decision,
    CASE WHEN COUNT(DISTINCT o.repository) = 1 THEN MAX(o.title) END AS title,
    a.rel AS relation,
    a.repository AS overridden_in,
    r.id AS overridden_by,
    r.title AS overriding_title,
    r.status AS status,
    a.reason AS reason
FROM against AS a
JOIN records AS r ON r.repository = a.repository AND r.id = a.record_id
LEFT JOIN originals AS o ON o.source = a.source AND o.id = a.source_id
GROUP BY a.target, a.rel, a.repository, r.id, r.title, r.status, a.reason
ORDER BY decision, overridden_in, overridden_by, title
