// Asks ratel through go-redis with its defaults (RESP3), and prints the replies as JSON.
package main

import (
	"context"
	"encoding/json"
	"fmt"
	"os"

	"github.com/redis/go-redis/v9"
)

func main() {
	ctx := context.Background()
	client := redis.NewClient(&redis.Options{Addr: "127.0.0.1:" + os.Args[1]})
	defer client.Close()

	replies := map[string]any{
		"throttle": must(client.Do(ctx, "CL.THROTTLE", "user:42", 15, 30, 60).Result()),
		"allow":    named(must(client.Do(ctx, "RATEL.ALLOW", "login", "user:42").Result())),
	}

	_, err := client.Do(ctx, "RATEL.ALLOW", "no-such-rule", "user:42").Result()
	replies["error"] = fmt.Sprint(err)

	pipeline := client.Pipeline()
	var asked []*redis.Cmd
	for i := 0; i < 100; i++ {
		asked = append(asked, pipeline.Do(ctx, "CL.THROTTLE", "piped", 9, 10, 86400))
	}
	must(pipeline.Exec(ctx))
	admitted := 0
	for _, one := range asked {
		if must(one.Slice())[0] == int64(0) {
			admitted++
		}
	}
	replies["piped"] = admitted
	replies["ping"] = must(client.Ping(ctx).Result())

	if err := json.NewEncoder(os.Stdout).Encode(replies); err != nil {
		panic(err)
	}
}

func must[T any](value T, err error) T {
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	return value
}

// JSON has no maps with keys of any type; RESP3 does.
func named(reply any) any {
	pairs, isMap := reply.(map[any]any)
	if !isMap {
		return reply
	}
	out := map[string]any{}
	for name, value := range pairs {
		out[name.(string)] = value
	}
	return out
}
