<?php
// What GigHive's upload endpoints have in common: the same statuses, members and messages, nothing else of GigHive.
// What arrived is kept in $INTEROP_RECEIVED: the file under its SHA-256, and a record of the form as PHP parsed it
// in <sha256>.json, so that a test can compare both with what was sent.

declare(strict_types=1);

const AUDIO = ['mp3', 'wav', 'flac', 'aac', 'm4a', 'aif', 'aiff', 'ogg', 'oga', 'au', 'wma'];
const VIDEO = [
    'mp4', 'mov', 'mkv', 'webm', 'm4v', 'avi', 'mpg', 'mpeg', 'ts', 'm2t', 'm2ts', 'ogv', 'mxf', 'flv', 'wmv', 'vob',
];

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

/** Begins an endpoint that is for POST alone. */
function take_post(string $what): void
{
    if (isset($_SERVER['INTEROP_COMPRESS'])) {
        ini_set('zlib.output_compression', '1');  // gzip for a client that accepts it, whatever the status
    }
    if ($_SERVER['REQUEST_METHOD'] !== 'POST') {
        header('Allow: POST');
        refuse(405, 'Method Not Allowed', "POST $what");
    }
}

/** A field of the form; empty when it was not sent. */
function field(array $form, string $name): string
{
    $value = $form[$name] ?? '';
    return is_scalar($value) ? trim((string) $value) : '';
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

/**
 * Examines the form, takes the file into the catalogue, and moves it to where it stays; or refuses, and leaves it.
 * @return array<string, mixed> the members of the answer; with a delete token when the file is new
 */
function accept(string $path, string $name, string $mime_type, array $form): array
{
    $extension = strtolower(pathinfo($name, PATHINFO_EXTENSION));
    $date = field($form, 'event_date');
    $size = filesize($path);
    if ($size === 0) {
        refuse(400, 'Bad Request', 'Empty upload');
    }
    if (field($form, 'label') === '') {
        refuse(400, 'Bad Request', 'Label is required');
    }
    if (!preg_match('/^(\d{4})-(\d\d)-(\d\d)$/', $date, $part)
        || !checkdate((int) $part[2], (int) $part[3], (int) $part[1])) {
        refuse(400, 'Bad Request', 'Invalid event_date format; expected YYYY-MM-DD');
    }
    if (!in_array($extension, [...AUDIO, ...VIDEO], true)) {
        refuse(400, 'Bad Request', 'Unsupported media type');
    }
    if (!in_array(field($form, 'event_type'), ['band', 'wedding'], true)) {
        refuse(500, 'Server Error', "SQLSTATE[01000]: Warning: 1265 Data truncated for column 'event_type' at row 1");
    }

    // Streams through the file; the memory that PHP needs does not depend on its size.
    $checksum = hash_file('sha256', $path);
    $entry = catalogue($checksum, $date . '|' . field($form, 'org_name'));
    if ($entry['same_event']) {
        answer(409, [
            'error' => 'Duplicate Upload',
            'message' => 'This file was already uploaded to this event.',
            'existing_asset_id' => $entry['id'],
            'checksum_sha256' => $checksum,
        ]);
    }

    $received = getenv('INTEROP_RECEIVED');
    $stored = "$checksum.$extension";
    rename($path, "$received/$stored");
    file_put_contents("$received/$checksum.json", json_encode([
        'file_name' => $name,
        'mime_type' => $mime_type,
        'user' => $_SERVER['REMOTE_USER'] ?? null,
        'fields' => $form,
    ], JSON_INVALID_UTF8_SUBSTITUTE));

    $members = [
        'id' => $entry['id'],
        'asset_id' => $entry['id'],
        'event_id' => 1,
        'event_item_id' => $entry['id'],
        'position' => 1,
        'file_name' => $stored,
        'file_type' => in_array($extension, AUDIO, true) ? 'audio' : 'video',
        'mime_type' => $mime_type,
        'size_bytes' => $size,
        'checksum_sha256' => $checksum,
        'event_date' => $date,
        'org_name' => field($form, 'org_name'),
        'event_type' => field($form, 'event_type'),
        'label' => field($form, 'label'),
        'participants' => field($form, 'participants'),
        'keywords' => field($form, 'keywords'),
        'duration_seconds' => 3,
    ];
    if (!$entry['known']) {
        $members['delete_token'] = bin2hex(random_bytes(32));
    }
    return $members;
}
