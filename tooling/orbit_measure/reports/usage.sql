-- Calls in all, by surface, by agent and by day: what they showed, and what it cost.
-- Reasons are listed, once for each call: the first of two that are as frequent is the one that was logged first.
WITH parts AS (
    SELECT
        e.*,
        unnest([
            {part: 'total', name: ''},
            {part: 'surfaces', name: e.surface},
            {part: 'agents', name: e.agent},
            {part: 'days', name: strftime(make_timestamp((floor(e.moment) * 1000000)::BIGINT), '%Y-%m-%d')}
        ], recursive := true)
    FROM events AS e
    UNION ALL BY NAME SELECT 'total' AS part, '' AS name
)
SELECT
    part,
    name,
    count(*) FILTER (is_call) AS calls,
    count(*) FILTER (is_call AND len(shown) > 0) AS speaking,
    share(count(*) FILTER (is_call AND len(shown) = 0), count(*) FILTER (is_call)) AS silent_share,
    list(coalesce(nullif(skip_reason, ''), 'not said') ORDER BY n) FILTER (is_call AND len(shown) = 0) AS skip_reasons,
    coalesce(sum(len(shown)) FILTER (is_call), 0)::BIGINT AS shown,
    coalesce(sum(omitted) FILTER (is_call), 0)::BIGINT AS omitted,
    coalesce(sum(len(opened)), 0)::BIGINT AS opened,
    coalesce(sum(tokens) FILTER (is_call), 0)::BIGINT AS tokens,
    -- The fault of a record that was opened is in the call's own event too.
    list(fault ORDER BY n) FILTER (fault <> '' AND kind <> 'opened') AS faults,
    {p50: quantile_disc(ms, 0.5) FILTER (is_call), p99: quantile_disc(ms, 0.99) FILTER (is_call)} AS ms
FROM parts
GROUP BY part, name
ORDER BY calls DESC, name;
