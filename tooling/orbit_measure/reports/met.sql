-- Each record of which an event says something, the most shown first.
SELECT id, r.title, m.shown, m.opened, m.opened_after_shown, m.failed_before_shown, m.failed_after_shown
FROM met AS m
LEFT JOIN records AS r USING (id)
ORDER BY m.shown DESC, m.opened DESC, id;
