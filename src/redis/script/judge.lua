  else
    return redis.error_reply('ERR ratel: no algorithm of this letter')
  end
end

if faults > 0 and not again then
  for i = 1, #KEYS do
    -- An error that is not of the key's type, but of our rights, say, is no fault of the key.
    local read = states[i][2]
    if type(read) == 'table' and not match(read.err, 'WRONGTYPE') then return read end
  end
  if verb ~= 'p' then
    -- A fault ends: what cannot be read lives no longer than the slack from now on.
    for i = 1, #KEYS do
      if faults % 2 ^ i >= 2 ^ (i - 1) then
        local left = call('PTTL', KEYS[i])
        if left < 0 or left > slack / 1000 then call('PEXPIRE', KEYS[i], slack / 1000) end
      end
    end
  end
  return {3, now, faults}
end
if least < 0 then least = 0 end
local granted = -1
if verb == 'm' then
  if least > 0 or cost == 0 then granted = least end
elseif verb == 'f' then
  granted = 0
elseif fits then
  granted = (verb == 'n' or verb == 'l') and 0 or cost
end
reply[3], reply[4] = granted, clamped
if verb == 'p' and not again then return reply end

local healed = 0
for i = 1, #KEYS do
  local key, s = KEYS[i], states[i]
  local kind, text, gone, written, ends = s[1], nil, false, false, 0
  if again and kind ~= 'c' then
    written = false
