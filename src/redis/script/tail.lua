  end
  -- With its TTL, to the millisecond above (%d cuts off): a state is never gone before it has ended. Numbers go as
  -- text, because 7.0 would print them as doubles, with 17 digits, and be longer at that than at anything else.
  if text then
    call('SET', key, text, 'PXAT', format('%d', ends / 1000 + 1))
  elseif gone then
    call('UNLINK', key)
  elseif written then
    call('PEXPIREAT', key, format('%d', ends / 1000 + 1))
  elseif s[2] and not again and call('PTTL', key) == -1 then
    call('PEXPIREAT', key, format('%d', ends / 1000 + 1))
    healed = healed + 2 ^ (i - 1)
  end
end
if again then return {2, now} end
reply[4] = clamped + healed * 65536
return reply
