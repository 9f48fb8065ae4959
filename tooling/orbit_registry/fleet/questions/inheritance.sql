-- title: What repositories inherit
-- answers: Which repository inherits the records of which other one, in which state, and how many does it override?
SELECT p.extends AS source, p.repository, COUNT(l.target) AS overrides
FROM repositories AS p
LEFT JOIN links AS l ON l.repository = p.repository AND l.rel = 'overrides'
WHERE p.extends <> ''
GROUP BY p.extends, p.repository
ORDER BY source, p.repository
