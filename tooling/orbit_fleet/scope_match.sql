-- scope_match(file): the records of all repositories whose scope covers a path. DuckDB alone reads this text.

CREATE MACRO scope_match(file) AS TABLE
WITH asked AS MATERIALIZED (
    SELECT q.parts, len(q.parts) AS depth, q.parts[-1] AS basename,
        CASE WHEN contains(q.parts[-1], '.') THEN string_split(q.parts[-1], '.')[-1] END AS extension
    FROM (SELECT string_split(file, '/') AS parts) AS q
), steps AS (
    SELECT a.parts, unnest(generate_series(1, a.depth - 1)) AS step FROM asked AS a
), places AS MATERIALIZED (
    SELECT 'path' AS kind, file AS text
    UNION SELECT 'basename', a.basename FROM asked AS a
    UNION SELECT 'directory', ''
    UNION SELECT 'directory', array_to_string(s.parts[1:s.step], '/') FROM steps AS s
    UNION SELECT 'segment', s.parts[s.step] FROM steps AS s
), hits AS MATERIALIZED (
    SELECT g.repository, g.record_id, g.position, g.value, g.exclude
    FROM scopes AS g JOIN places AS p ON g.anchor_kind = p.kind AND g.anchor = p.text CROSS JOIN asked AS a
    WHERE g.axis = 'path' AND (g.extension IS NULL OR g.extension = a.extension)
        AND (g.depth IS NULL OR g.depth = a.depth) AND (g.regex IS NULL OR regexp_full_match(file, g.regex))
)
SELECT r.repository, r.id, r.kind, r.phase, r.title, m.pattern
FROM (
    SELECT h.repository, h.record_id, arg_min(h.value, h.position) AS pattern
    FROM hits AS h GROUP BY h.repository, h.record_id HAVING NOT bool_or(h.exclude)
) AS m
JOIN records AS r ON r.repository = m.repository AND r.id = m.record_id
ORDER BY r.repository, r.id;
