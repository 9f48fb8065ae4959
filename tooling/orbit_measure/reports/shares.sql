-- The share of each measure that each way has, with its interval.
SELECT
    measure,
    way,
    count(*) FILTER (has_it) AS count,
    count(*) AS of,
    wilson_low(count(*) FILTER (has_it), count(*)) AS low,
    wilson_high(count(*) FILTER (has_it), count(*)) AS high
FROM cases
GROUP BY measure, way;
