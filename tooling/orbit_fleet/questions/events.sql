-- title: Events
-- answers: What happened lately to decisions, rules and learnings? Of a document its own date counts.
SELECT
    CASE WHEN author_role = 'import' THEN date ELSE CAST(CAST(updated_at AS DATE) AS VARCHAR) END AS day,
    CONCAT(repository, ' ', id, ' ', title) AS record, status, author AS by_whom
FROM records
WHERE kind IN ('adr', 'rule', 'learning') AND NOT is_copy AND (COALESCE(author_role, '') <> 'import' OR date IS NOT NULL)
ORDER BY day DESC, record
