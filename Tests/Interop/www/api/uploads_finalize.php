<?php
// Answers as GigHive's /api/uploads/finalize does: the form as JSON, for a file that came by tus. The upload's id is
// the last segment of its address. What the tus server stored of it is in $INTEROP_TUS: <id>, and <id>.info about it.
//
// GigHive learns from a hook of its tus server that an upload is complete, which can take a moment. Here it takes
// as many seconds as the file "hook-delay" in $INTEROP_TUS says, from the last byte on, and up to one more.

declare(strict_types=1);

require __DIR__ . '/gighive.php';

const PATIENCE_SECONDS = 2;

/** A complete upload; null if it is incomplete or unknown. */
function complete_upload(string $id): ?array
{
    clearstatcache();
    $path = getenv('INTEROP_TUS') . "/$id";
    if (!is_file($path) || !is_file("$path.info")) {
        return null;
    }
    $info = json_decode(file_get_contents("$path.info"), true);
    $delay = @file_get_contents(getenv('INTEROP_TUS') . '/hook-delay');
    // filemtime() counts whole seconds.
    $learnt = $delay === false || microtime(true) >= filemtime($path) + 1 + (int) $delay;
    return is_array($info) && $info['offset'] === $info['size'] && $learnt ? $info : null;
}

take_post('a JSON object');

$form = json_decode(file_get_contents('php://input'), true);
$id = is_array($form) ? field($form, 'upload_id') : '';
if (!preg_match('/^[0-9a-f]{32}$/', $id)) {
    refuse(400, 'Bad Request', 'upload_id is required');
}
unset($form['upload_id']);

// The answer to a request that was repeated, because its answer was lost, is the same; the delete token is told once.
$finalized = getenv('INTEROP_RECEIVED') . "/finalized-$id.json";
if (is_file($finalized)) {
    answer(201, json_decode(file_get_contents($finalized), true));
}

$upload = complete_upload($id);
for ($deadline = microtime(true) + PATIENCE_SECONDS; $upload === null && microtime(true) < $deadline;) {
    usleep(100_000);
    $upload = complete_upload($id);
}
if ($upload === null) {
    refuse(500, 'Server Error', "The upload $id has not been written yet; retry in a moment.");
}

$path = getenv('INTEROP_TUS') . "/$id";
$metadata = $upload['metadata'];
$members = accept($path, $metadata['filename'] ?? '', $metadata['filetype'] ?? '', $form);
unlink("$path.info");
$again = $members;
unset($again['delete_token']);
file_put_contents($finalized, json_encode($again));
answer(201, $members);
