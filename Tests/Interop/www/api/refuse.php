<?php
// Refuses every upload while its body is still arriving, and never reads it.

declare(strict_types=1);

usleep(200_000);
http_response_code(413);
header('Content-Type: application/json');
echo json_encode(['error' => 'Payload Too Large', 'message' => 'Refused in the middle of the body.']);
// Sends the answer now: PHP would first read the body to its end.
flush();
fastcgi_finish_request();
