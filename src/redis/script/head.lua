#!lua
-- What the store decides, in one call a question: however many limits of whatever algorithms it names.
--
-- All of script/ is joined into one text at build time (cmake/join_script.cmake): this head, then what each algorithm
-- does to read and to judge, then judge.lua, then what each does to write, then tail.lua. ../README.md has the layout
-- of arguments, reply and values.
--
-- Rules of this text. The shebang has Redis refuse it before line 1 where it could not write (READONLY, OOM, MISCONF,
-- NOREPLICAS). All is read and checked before anything is written, since what is written stays. Time is read once: 7.0
-- does not freeze it. Every number is a whole one below 2^53, so that Lua's doubles are exact; what would be greater is
-- a pair or in limbs. What needs division is left to the caller. No function is made that the call at hand may not
-- need, because Lua makes them anew each time.
local call, pcall, KEYS, ARGV = redis.call, redis.pcall, KEYS, ARGV
local time = call('TIME')
local now = time[1] * 1000000 + time[2]
local deadline = ARGV[1] + 0
if deadline > 0 and now > deadline then return {1, now} end
local verb, cost = ARGV[2], ARGV[3] + 0
if verb == 'x' then
  -- Without a look at what is there: to reset is also what mends a counter that somebody else wrote over.
  for i = 1, #KEYS do call('UNLINK', KEYS[i]) end
  return {0, now, 0, 0}
end

-- How far ahead of its clock a store may find a time that it wrote itself.
local slack = 60000000
local match, format = string.match, string.format
local p, patience = 4, 0
if verb == 'r' or verb == 'm' then p, patience = 5, ARGV[4] + 0 end

-- Made as long as the reply to most questions is, since a table that grows costs more than the rest of it.
local reply, states, size = {0, now, 0, 0, -1, 0}, {false}, 4
-- Whether each counter admits the cost; the most that all admit; a bit for each that is clamped or cannot be read; and
-- whether the caller has to ask again.
local fits, least, clamped, faults, again = true, cost, 0, 0, false
for i = 1, #KEYS do
  local key, kind, n = KEYS[i], ARGV[p], size
  if kind == nil then
    return redis.error_reply('ERR ratel: an argument is missing')
