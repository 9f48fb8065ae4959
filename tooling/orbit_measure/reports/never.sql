-- Each record that could be shown and never would have been, and why.
SELECT
    id,
    title,
    CASE
        WHEN NOT has_scope THEN 'no path'
        WHEN uid NOT IN (SELECT uid FROM applied) THEN 'never touched'
        WHEN uid IN (SELECT uid FROM left_out WHERE reason = 'broad') THEN 'too broad'
        ELSE 'left out'
    END AS why
FROM records
WHERE uid NOT IN (SELECT uid FROM shown)
ORDER BY position;
