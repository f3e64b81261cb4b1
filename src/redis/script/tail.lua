  end
  -- With its TTL, to the millisecond above: a state is never gone before it has ended.
  if text then
    call('SET', key, text, 'PXAT', (ends - ends % 1000) / 1000 + 1)
  elseif gone then
    call('UNLINK', key)
  elseif written then
    call('PEXPIREAT', key, (ends - ends % 1000) / 1000 + 1)
  elseif s[2] and call('PTTL', key) == -1 then
    call('PEXPIREAT', key, (ends - ends % 1000) / 1000 + 1)
    healed = healed + 2 ^ (i - 1)
  end
end
if again then return {2, now} end
reply[4] = clamped + healed * 65536
return reply
