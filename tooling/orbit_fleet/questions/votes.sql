-- title: Ranking by votes
-- answers: Which records helped most, over all repositories? A vote weighs half after 180 days, from the newest vote on.
WITH newest AS (
    SELECT MAX(voted_at) AS voted_at FROM votes
), weights AS (
    SELECT
        v.repository, v.record_id, COUNT(*) AS votes,
        SUM(CAST(ROUND(1000000 * POWER(0.5, CAST(DATEDIFF('day', v.voted_at, n.voted_at) AS DOUBLE) / 180.0)) AS BIGINT)) AS weight
    FROM votes AS v CROSS JOIN newest AS n
    GROUP BY v.repository, v.record_id
)
SELECT
    CAST(w.weight AS DOUBLE) / 1000000 AS weight, w.votes, r.repository, r.id, r.kind, r.status, r.title
FROM weights AS w
JOIN records AS r ON r.repository = w.repository AND r.id = w.record_id
ORDER BY w.weight DESC, r.repository, r.id
