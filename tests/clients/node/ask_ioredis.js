// Asks ratel through ioredis with its defaults, and prints the replies as JSON.
const Redis = require("ioredis");

async function main(port) {
  const client = new Redis(port, "127.0.0.1");
  const throttle = await client.call("CL.THROTTLE", "user:42", 15, 30, 60);
  const allow = await client.call("RATEL.ALLOW", "login", "user:42");
  const error = await client.call("RATEL.ALLOW", "no-such-rule", "user:42").catch((e) => e.message);

  const pipeline = client.pipeline();
  for (let i = 0; i < 100; i++) pipeline.call("CL.THROTTLE", "piped", 9, 10, 86400);
  const piped = (await pipeline.exec()).filter(([, reply]) => reply[0] === 0).length;

  const ping = await client.ping();
  await client.quit();
  return { throttle, allow, error, piped, ping };
}

main(Number(process.argv[2])).then((replies) => console.log(JSON.stringify(replies)));
