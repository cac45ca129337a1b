<?php
// Answers as GigHive's /api/uploads.php does: one request with the form and the file.

declare(strict_types=1);

require __DIR__ . '/gighive.php';

function too_large(): never
{
    refuse(413, 'Payload Too Large', 'Upload exceeded server limits'
        . ' (post_max_size / upload_max_filesize or web server request size).');
}

take_post('a multipart/form-data body');

// PHP drops the whole form when it exceeds post_max_size, and a file under another name is not ours:
// GigHive cannot tell the two apart and says 413 to both. Without a Content-Length there is no form at all.
$file = $_FILES['file'] ?? null;
if ($file === null) {
    if (($_SERVER['CONTENT_LENGTH'] ?? '') === '') {
        refuse(400, 'Bad Request', 'Missing file field');
    }
    too_large();
}
if ($file['error'] === UPLOAD_ERR_INI_SIZE) {
    too_large();
}
if ($file['error'] !== UPLOAD_ERR_OK) {
    refuse(500, 'Server Error', "PHP's upload error {$file['error']}");
}
// Unlike 'name', 'full_path' is not cut to what follows the last slash.
answer(201, accept($file['tmp_name'], $file['full_path'], $file['type'], $_POST));
