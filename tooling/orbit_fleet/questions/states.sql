-- title: Records by kind and status
-- answers: How many records of each kind and status are there, and in how many repositories?
SELECT kind, status, phase, COUNT(*) AS records, COUNT(DISTINCT repository) AS repositories
FROM records
GROUP BY kind, status, phase
ORDER BY kind, records DESC, status
