-- Each record that would have been shown: in how many commits, and how many of them cite it.
SELECT r.id, r.title, count(*) AS commits, count(*) FILTER (c.could) AS cited
FROM records AS r
JOIN shown AS s USING (uid)
LEFT JOIN cited AS c USING (step, uid)
GROUP BY r.id, r.title, r.position
ORDER BY commits DESC, r.position;
