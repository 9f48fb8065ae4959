-- What the log has in all.
SELECT
    (SELECT count(*) FROM logged WHERE moment < getvariable('since')) AS older,
    min(moment) AS first,
    max(moment) AS last,
    (
        SELECT count(*) FROM logged
        WHERE kind = 'retrieval' AND starts_with(session, 'trial-') AND moment >= getvariable('since')
    ) AS trials,
    count(*) FILTER (is_estimated) AS tokens_estimated_calls,
    {
        'count': count(DISTINCT session) FILTER (session <> ''),
        calls_without: count(*) FILTER (is_call AND session = '')
    } AS sessions,
    (
        SELECT {
            'count': coalesce(sum(opened_after_shown), 0)::BIGINT,
            'of': coalesce(sum(sessions), 0)::BIGINT,
            share: share(sum(opened_after_shown), sum(sessions))
        } FROM met
    ) AS opened_after_shown,
    (
        SELECT {
            applied: coalesce(sum(m.shown) FILTER (r.described), 0)::BIGINT,
            records: (SELECT count(*) FROM records WHERE described),
            failed_before_shown: coalesce(sum(m.failed_before_shown), 0)::BIGINT,
            failed_after_shown: coalesce(sum(m.failed_after_shown), 0)::BIGINT
        } FROM met AS m LEFT JOIN records AS r USING (id)
    ) AS prevention
FROM events;
