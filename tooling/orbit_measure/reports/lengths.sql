-- The same commits, of which several in a row are one session.
SELECT
    length AS commits,
    coalesce(sum(shown), 0)::BIGINT AS shown,
    mean(sum(shown), count(step)) AS shown_per_commit,
    coalesce(sum(tokens), 0)::BIGINT AS tokens,
    mean(sum(tokens), count(step)) AS tokens_per_commit,
    share(count(*) FILTER (shown = 0), count(step)) AS silent_share
FROM unnest([1, 5, 20]) AS lengths (length)
LEFT JOIN commits USING (length)
GROUP BY length
ORDER BY length;
