<?php
// Asks ratel through phpredis with its defaults, and prints the replies as JSON.
$client = new Redis();
$client->connect('127.0.0.1', (int) $argv[1]);

$throttle = $client->rawCommand('CL.THROTTLE', 'user:42', 15, 30, 60);
$allow = $client->rawCommand('RATEL.ALLOW', 'login', 'user:42');
$client->rawCommand('RATEL.ALLOW', 'no-such-rule', 'user:42');
$error = $client->getLastError();

$client->multi(Redis::PIPELINE);
for ($i = 0; $i < 100; $i++) {
    $client->rawCommand('CL.THROTTLE', 'piped', 9, 10, 86400);
}
$piped = count(array_filter($client->exec(), fn ($reply) => $reply[0] === 0));

$ping = $client->ping() ? 'PONG' : 'none';
$client->close();
echo json_encode(compact('throttle', 'allow', 'error', 'piped', 'ping')), "\n";
