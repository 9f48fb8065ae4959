-- The rows of a list of lines of the event log: one for each record of an event, one for an event without.
WITH said AS (
    SELECT n, line, TRY_CAST(line AS JSON) AS members
    FROM (SELECT unnest(lines) AS line, unnest(range(len(lines))) AS n FROM (SELECT ?::VARCHAR[] AS lines))
),
known AS (
    SELECT
        n,
        line,
        TRY_CAST((members->>'$.at') AS TIMESTAMP) AS happened_at,
        (members->>'$.event') AS type,
        (members->>'$.surface') AS surface,
        (members->>'$.session') AS session,
        CASE WHEN (members->>'$.event') = ? THEN (members->>'$.hits[*]') ELSE (members->>'$.ids[*]') END AS ids
    FROM said
    WHERE json_type(members) = 'OBJECT'
)
SELECT happened_at, type, record_id, surface, session, line FROM (
    SELECT *, unnest(CASE WHEN len(ids) = 0 THEN [NULL] ELSE ids END) AS record_id FROM known
)
WHERE happened_at IS NOT NULL
    AND type IN (SELECT unnest(?::VARCHAR[]))
    AND (record_id IS NULL OR regexp_full_match(record_id, '[A-Za-z0-9][A-Za-z0-9_.-]{0,99}'))
ORDER BY n
