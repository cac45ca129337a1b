<?php
// Answers as GigHive's /api/uploads.php does: the same statuses, members and messages, nothing else
// of GigHive. What arrived is kept in $INTEROP_RECEIVED: the file under its SHA-256, and a record of
// the form as PHP parsed it in <sha256>.json, so that a test can compare both with what was sent.

declare(strict_types=1);

const MEDIA_TYPES = 'mp3 wav flac aac m4a aif aiff ogg oga au wma '
    . 'mp4 mov mkv webm m4v avi mpg mpeg ts m2t m2ts ogv mxf flv wmv vob';

function answer(int $status, array $members): never
{
    http_response_code($status);
    if ($status >= 400) {
        header('Connection: close');
    }
    // A client that would take HTML gets a page; the contract is to ask for JSON alone.
    if (str_contains($_SERVER['HTTP_ACCEPT'] ?? '', 'text/html')) {
        header('Content-Type: text/html; charset=utf-8');
        echo '<!DOCTYPE html><title>Upload</title><pre>', htmlspecialchars(json_encode($members)), '</pre>';
    } else {
        header('Content-Type: application/json');
        echo json_encode($members);
    }
    exit;
}

function refuse(int $status, string $error, string $message): never
{
    answer($status, ['error' => $error, 'message' => $message]);
}

function too_large(): never
{
    refuse(413, 'Payload Too Large', 'Upload exceeded server limits'
        . ' (post_max_size / upload_max_filesize or web server request size).');
}

/** A form field; empty when it was not sent. */
function field(string $name): string
{
    return trim((string) ($_POST[$name] ?? ''));
}

/**
 * Looks the file up in the catalogue and adds it when it is new; locked, because PHP-FPM has several workers.
 * @return array{id: int, known: bool, same_event: bool}
 */
function catalogue(string $checksum, string $event): array
{
    $handle = fopen(getenv('INTEROP_RECEIVED') . '/catalogue.json', 'c+');
    flock($handle, LOCK_EX);
    $assets = json_decode(stream_get_contents($handle) ?: '{}', true);
    $known = isset($assets[$checksum]);
    $asset = $assets[$checksum] ?? ['id' => count($assets) + 1, 'events' => []];
    $same = in_array($event, $asset['events'], true);
    if (!$same) {
        $asset['events'][] = $event;
        $assets[$checksum] = $asset;
        rewind($handle);
        ftruncate($handle, 0);
        fwrite($handle, json_encode($assets));
    }
    fclose($handle);
    return ['id' => $asset['id'], 'known' => $known, 'same_event' => $same];
}

if (isset($_SERVER['INTEROP_COMPRESS'])) {
    ini_set('zlib.output_compression', '1');  // gzip for a client that accepts it, whatever the status
}
if ($_SERVER['REQUEST_METHOD'] !== 'POST') {
    header('Allow: POST');
    refuse(405, 'Method Not Allowed', 'POST a multipart/form-data body');
}

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

$extension = strtolower(pathinfo($file['name'], PATHINFO_EXTENSION));
$date = field('event_date');
if ($file['size'] === 0) {
    refuse(400, 'Bad Request', 'Empty upload');
}
if (field('label') === '') {
    refuse(400, 'Bad Request', 'Label is required');
}
if (!preg_match('/^(\d{4})-(\d\d)-(\d\d)$/', $date, $part)
    || !checkdate((int) $part[2], (int) $part[3], (int) $part[1])) {
    refuse(400, 'Bad Request', 'Invalid event_date format; expected YYYY-MM-DD');
}
if (!in_array($extension, explode(' ', MEDIA_TYPES), true)) {
    refuse(400, 'Bad Request', 'Unsupported media type');
}
if (!in_array(field('event_type'), ['band', 'wedding'], true)) {
    refuse(500, 'Server Error', "SQLSTATE[01000]: Warning: 1265 Data truncated for column 'event_type' at row 1");
}

// Streams through the file; the memory that PHP needs does not depend on its size.
$checksum = hash_file('sha256', $file['tmp_name']);
$received = getenv('INTEROP_RECEIVED');
$entry = catalogue($checksum, $date . '|' . field('org_name'));
if ($entry['same_event']) {
    answer(409, [
        'error' => 'Duplicate Upload',
        'message' => 'This file was already uploaded to this event.',
        'existing_asset_id' => $entry['id'],
        'checksum_sha256' => $checksum,
    ]);
}

$stored = "$checksum.$extension";
move_uploaded_file($file['tmp_name'], "$received/$stored");
file_put_contents("$received/$checksum.json", json_encode([
    'file_name' => $file['full_path'],  // unlike 'name', not cut to what follows the last slash
    'mime_type' => $file['type'],
    'user' => $_SERVER['REMOTE_USER'] ?? null,
    'fields' => $_POST,
], JSON_INVALID_UTF8_SUBSTITUTE));

$audio = in_array($extension, ['mp3', 'wav', 'flac', 'aac', 'm4a', 'aif', 'aiff', 'ogg', 'oga', 'au', 'wma'], true);
$members = [
    'id' => $entry['id'],
    'asset_id' => $entry['id'],
    'event_id' => 1,
    'event_item_id' => $entry['id'],
    'position' => 1,
    'file_name' => $stored,
    'file_type' => $audio ? 'audio' : 'video',
    'mime_type' => $file['type'],
    'size_bytes' => $file['size'],
    'checksum_sha256' => $checksum,
    'event_date' => $date,
    'org_name' => field('org_name'),
    'event_type' => field('event_type'),
    'label' => field('label'),
    'participants' => field('participants'),
    'keywords' => field('keywords'),
    'duration_seconds' => 3,
];
if (!$entry['known']) {
    $members['delete_token'] = bin2hex(random_bytes(32));
}
answer(201, $members);
