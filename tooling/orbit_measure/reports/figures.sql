-- A share of 4 digits, and a mean of 2; nothing of nothing.
CREATE MACRO share(part, total) AS CASE WHEN total > 0 THEN round_even(part / total, 4) END;
CREATE MACRO mean(part, total) AS CASE WHEN total > 0 THEN round_even(part / total, 2) END;

-- Wilson's interval of a share, of 95 %.
CREATE MACRO z() AS 1.959963984540054;
CREATE MACRO wilson_middle(having_it, of) AS (having_it / of + z() * z() / of / 2) / (1 + z() * z() / of);
CREATE MACRO wilson_half(having_it, of) AS
    sqrt(having_it / of * (1 - having_it / of) * z() * z() / of + (z() * z() / of) ^ 2 / 4) / (1 + z() * z() / of);
CREATE MACRO wilson_low(having_it, of) AS greatest(0.0, wilson_middle(having_it, of) - wilson_half(having_it, of));
CREATE MACRO wilson_high(having_it, of) AS least(1.0, wilson_middle(having_it, of) + wilson_half(having_it, of));

-- The difference of two independent shares with its interval (Newcombe 1998, method 10).
CREATE MACRO newcombe(one, n, other, m) AS {
    difference: one / n - other / m,
    low: one / n - other / m
        - sqrt((one / n - wilson_low(one, n)) ^ 2 + (wilson_high(other, m) - other / m) ^ 2),
    high: one / n - other / m
        + sqrt((wilson_high(one, n) - one / n) ^ 2 + (other / m - wilson_low(other, m)) ^ 2)
};
