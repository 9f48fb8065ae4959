-- What commits would have been shown, each as a session, and what was left out.
WITH counts AS (
    SELECT shown, count(*) AS times FROM commits WHERE length = 1 GROUP BY shown
), reasons AS (
    SELECT reason, count(*) AS times FROM left_out GROUP BY reason
), calls AS (
    SELECT count(*) AS number, count(*) FILTER (tokens > 0) AS speaking FROM edits WHERE length = 1
)
SELECT
    {
        with_files: count(*),
        without_files: (SELECT count(*) FROM steps WHERE files = 0),
        silent: count(*) FILTER (shown = 0)
    } AS commits,
    share(count(*) FILTER (shown = 0), count(*)) AS silent_share,
    (
        SELECT {'count': number, speaking: speaking, silent_share: share(number - speaking, number)}
        FROM calls
    ) AS calls,
    struct_insert(
        spread(shown),
        by_count := (SELECT coalesce(map_from_entries(list((shown::VARCHAR, times) ORDER BY shown)), MAP {}) FROM counts)
    ) AS shown,
    spread(tokens) AS tokens,
    (SELECT coalesce(map_from_entries(list((reason, times) ORDER BY reason)), MAP {}) FROM reasons) AS left_out
FROM commits
WHERE length = 1;
