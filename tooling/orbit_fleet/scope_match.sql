-- The records of all repositories whose scope covers a file, whose names it imports or which it cites, which is $file here. DuckDB and Spark read this text. A glob begins
-- with a fixed part, its anchor; what that does not say is in its extension, its depth and its regular expression.
WITH candidates AS (
    SELECT
        repository, record_id, "position", "value", "exclude", regex,
        CASE anchor_kind
            WHEN 'path' THEN anchor = $file
            WHEN 'basename' THEN ENDS_WITH(CONCAT('/', $file), CONCAT('/', anchor))
            WHEN 'directory' THEN anchor = '' OR STARTS_WITH($file, CONCAT(anchor, '/'))
            WHEN 'segment' THEN CONTAINS(CONCAT('/', $file), CONCAT('/', anchor, '/'))
        END
        AND (extension IS NULL OR ENDS_WITH($file, CONCAT('.', extension)))
        AND ("depth" IS NULL OR "depth" = LENGTH($file) - LENGTH(REPLACE($file, '/', '')) + 1) AS is_candidate
    FROM scopes
    WHERE axis = 'path'
), hits AS (
    SELECT repository, record_id, "position", "value", "exclude"
    FROM candidates
    -- A regular expression is compiled for each row that gets here.
    WHERE CASE WHEN is_candidate THEN regex IS NULL OR REGEXP_MATCHES($file, CONCAT('^(?:', regex, ')\z')) ELSE false END
    UNION ALL
    SELECT repository, record_id, 1000000, "value", false FROM scopes WHERE axis = 'imported' AND anchor = $file
), covering AS (
    SELECT repository, record_id, ARG_MIN("value", "position") AS pattern, 1 AS step
    FROM hits
    GROUP BY repository, record_id
    HAVING MAX(CASE WHEN "exclude" THEN 1 ELSE 0 END) = 0
    UNION ALL
    -- A file that a scope excludes may still cite it.
    SELECT repository, record_id, "value", 2 FROM scopes WHERE axis = 'cited' AND anchor = $file
), matches AS (
    SELECT repository, record_id, ARG_MIN(pattern, step) AS pattern
    FROM covering
    GROUP BY repository, record_id
)
SELECT r.repository, r.id, r.kind, r.phase, r.title, m.pattern
FROM matches AS m
JOIN records AS r ON r.repository = m.repository AND r.id = m.record_id
ORDER BY r.repository, r.id
