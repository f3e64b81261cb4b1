// Asks ratel through node-redis with its defaults, and prints the replies as JSON.
const { createClient } = require("redis");

async function main(port) {
  const client = createClient({ url: `redis://127.0.0.1:${port}` });
  client.on("error", (e) => {
    console.error(e);
    process.exit(1);
  });
  await client.connect();
  const throttle = await client.sendCommand(["CL.THROTTLE", "user:42", "15", "30", "60"]);
  const allow = await client.sendCommand(["RATEL.ALLOW", "login", "user:42"]);
  const error = await client.sendCommand(["RATEL.ALLOW", "no-such-rule", "user:42"]).catch((e) => e.message);

  // Commands of one turn go out together.
  const asked = Array.from({ length: 100 }, () => client.sendCommand(["CL.THROTTLE", "piped", "9", "10", "86400"]));
  const piped = (await Promise.all(asked)).filter((reply) => reply[0] === 0).length;

  const ping = await client.ping();
  await client.close();
  return { throttle, allow, error, piped, ping };
}

main(Number(process.argv[2])).then((replies) => console.log(JSON.stringify(replies)));
