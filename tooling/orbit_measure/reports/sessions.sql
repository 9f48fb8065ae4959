-- What the reports read: the events of the log since a time, what records cost, and which records came due in which session.

CREATE TABLE logged (
    n BIGINT,                -- the order in which they were logged
    moment DOUBLE,           -- seconds since 1970
    kind VARCHAR,
    surface VARCHAR,
    session VARCHAR,         -- empty without one
    agent VARCHAR,
    shown VARCHAR[],
    opened VARCHAR[],
    failed VARCHAR[],        -- records whose `error_pattern` matched a failure
    omitted BIGINT,
    skip_reason VARCHAR,
    fault VARCHAR,
    ms DOUBLE,
    tokens BIGINT
);

-- Today's records, as the index has them.
CREATE TABLE records (
    id VARCHAR,
    title VARCHAR,
    tokens BIGINT,           -- of what is shown of it
    pushed BOOLEAN,          -- it can be shown
    described BOOLEAN        -- it describes an error
);

CREATE TABLE pairs (
    session VARCHAR,
    record VARCHAR,
    withheld BOOLEAN,
    opened BOOLEAN,
    edited BOOLEAN,
    turned_green BOOLEAN,
    failed_again BIGINT,
    reverted BOOLEAN,
    failed_calls BIGINT,
    retries BIGINT,
    tokens BIGINT,
    turns BIGINT,            -- without a transcript, nothing
    used_tokens BIGINT,
    described BOOLEAN        -- the record describes an error
);

-- Calls of the hook's own trial count nowhere, and a sync is no request.
-- A call without tokens in its event is estimated from today's records and what is written around them.
CREATE VIEW events AS
SELECT
    l.* EXCLUDE (tokens),
    l.kind = 'retrieval' AS is_call,
    l.tokens IS NULL AND len(l.shown) > 0 AS is_estimated,
    CASE WHEN is_estimated THEN (
        SELECT getvariable('frame') + coalesce(sum(r.tokens), 0) FROM records AS r WHERE list_contains(l.shown, r.id)
    ) ELSE l.tokens END AS tokens
FROM logged AS l
WHERE NOT starts_with(l.session, 'trial-') AND l.kind <> 'synced' AND l.moment >= getvariable('since');

-- Each record that was shown or opened, or whose error came back. A session forgets at a compaction what it was shown.
CREATE VIEW met AS
WITH spans AS (
    SELECT
        *,
        count(*) FILTER (kind IN ('compaction', 'compacted')) OVER (PARTITION BY session ORDER BY n) AS span
    FROM events
), named AS (
    SELECT n, session, span, 'failed' AS how, unnest(failed) AS record FROM spans
    UNION ALL SELECT n, session, span, 'shown', unnest(shown) FROM spans
    UNION ALL SELECT n, session, span, 'opened', unnest(opened) FROM spans
), first_shown AS (
    SELECT session, span, record, min(n) AS since
    FROM named
    WHERE how = 'shown' AND session <> ''
    GROUP BY session, span, record
)
SELECT
    record AS id,
    count(*) FILTER (how = 'shown') AS shown,
    count(*) FILTER (how = 'opened') AS opened,
    count(DISTINCT (session, span)) FILTER (how = 'opened' AND since <= n) AS opened_after_shown,
    count(*) FILTER (how = 'failed' AND (since IS NULL OR since >= n)) AS failed_before_shown,
    count(*) FILTER (how = 'failed' AND since < n) AS failed_after_shown,
    count(DISTINCT (session, span)) FILTER (since IS NOT NULL) AS sessions
FROM named
LEFT JOIN first_shown USING (session, span, record)
GROUP BY record;
