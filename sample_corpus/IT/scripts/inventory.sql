-- printers that have not been seen for ninety days
SELECT p.asset_tag, p.model, p.floor, MAX(s.seen_on) AS last_seen
FROM printer AS p
LEFT JOIN sighting AS s ON s.asset_tag = p.asset_tag
GROUP BY p.asset_tag, p.model, p.floor
HAVING MAX(s.seen_on) < CURRENT_DATE - INTERVAL '90' DAY
ORDER BY p.floor, p.asset_tag;
