-- Each outcome of each record, and of all records (''), in the sessions that were shown it and in those that were not.
--
-- Shares of one record are compared by Newcombe's interval; means, and all records together, by sums over sessions, whose
-- pairs are not independent. What was used is compared by its logarithm, as a few sessions use most of all.
WITH outcomes AS (
    SELECT record, session, withheld, unnest([
        {name: 'failures', kind: 'share', value: CASE WHEN described THEN (failed_again > 0)::DOUBLE END},
        {name: 'opened', kind: 'share', value: opened::DOUBLE},
        {name: 'edited', kind: 'share', value: edited::DOUBLE},
        {name: 'turned_green', kind: 'share', value: turned_green::DOUBLE},
        {name: 'reverted', kind: 'share', value: reverted::DOUBLE},
        {name: 'failed_calls', kind: 'count', value: failed_calls::DOUBLE},
        {name: 'retries', kind: 'count', value: retries::DOUBLE},
        {name: 'tokens', kind: 'count', value: tokens::DOUBLE},
        {name: 'turns', kind: 'used', value: CASE WHEN turns IS NOT NULL THEN ln(greatest(turns, 1)) END},
        {name: 'used_tokens', kind: 'used', value: CASE WHEN turns IS NOT NULL THEN ln(greatest(used_tokens, 1)) END}
    ], recursive := true)
    FROM pairs
), cases AS (
    SELECT * FROM outcomes WHERE value IS NOT NULL
    UNION ALL SELECT * REPLACE ('' AS record) FROM outcomes WHERE value IS NOT NULL
), arms AS (
    SELECT
        record, name, kind,
        avg(value) FILTER (NOT withheld) AS shown,
        avg(value) FILTER (withheld) AS without,
        count(*) FILTER (NOT withheld) AS n,
        count(*) FILTER (withheld) AS m,
        count(DISTINCT session) FILTER (NOT withheld) AS sessions,
        count(DISTINCT session) FILTER (withheld) AS other_sessions,
        least(count(*) FILTER (value > 0), count(*) FILTER (value = 0)) AS rarer,
        CASE kind WHEN 'used' THEN ln(1 + getvariable('detected')) ELSE getvariable('detected') * avg(value) END AS aim
    FROM cases
    GROUP BY record, name, kind
), pulls AS (
    SELECT
        record, name, session,
        avg(value) AS mean,
        sum(CASE WHEN withheld THEN (without - value) / m ELSE (value - shown) / n END) AS pull
    FROM cases JOIN arms USING (record, name, kind)
    GROUP BY record, name, session
), spreads AS (
    SELECT
        record, name,
        CASE WHEN count(*) >= getvariable('fewest_spread') THEN var_samp(mean) END AS variance,
        z() * sqrt(sum(pull * pull) * count(*) / greatest(count(*) - 1, 1)) AS half
    FROM pulls
    GROUP BY record, name
), intervals AS (
    SELECT
        *,
        CASE
            WHEN kind = 'share' AND record <> '' AND least(n, m) >= getvariable('fewest')
                THEN newcombe(shown * n, n, without * m, m)
            WHEN kind = 'share' AND record <> '' OR least(sessions, other_sessions) < getvariable('fewest') THEN NULL
            WHEN kind = 'share' AND rarer < getvariable('fewest_cases') THEN NULL
            -- All or none of an arm: sums don't vary, so each session counts as one trial.
            WHEN kind = 'share' AND (shown IN (0, 1) OR without IN (0, 1))
                THEN newcombe(shown * sessions, sessions, without * other_sessions, other_sessions)
            WHEN half < 1e-12 THEN {difference: shown - without, low: NULL, high: NULL}
            ELSE {difference: shown - without, low: shown - without - half, high: shown - without + half}
        END AS seen
    FROM arms JOIN spreads USING (record, name)
)
SELECT
    record,
    name,
    if(kind = 'used', exp(shown), shown) AS shown,
    if(kind = 'used', exp(without), without) AS withheld,
    if(kind = 'used', exp(seen.difference) - 1, seen.difference) AS difference,
    if(kind = 'used', exp(seen.low) - 1, seen.low) AS low,
    if(kind = 'used', exp(seen.high) - 1, seen.high) AS high,
    CASE
        WHEN variance > 1e-12 AND aim > 0 THEN ceil(2 * variance * ((z() + getvariable('powered')) / aim) ^ 2)::BIGINT
    END AS needed
FROM intervals;
