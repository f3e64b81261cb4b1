-- Fixed window on the calendar. Value: `start:count`, both the window's; a third number is read over.
-- Arguments: capacity, then where the window before, the caller's one, the next, and the one after that begin. A time
-- outside of them is the caller's to look up: he is told what time it is and asks again.
--@ read
  elseif kind == 'k' then
    local capacity, b0, b1, b2, b3 = ARGV[p + 1] + 0, ARGV[p + 2] + 0, ARGV[p + 3] + 0, ARGV[p + 4] + 0, ARGV[p + 5] + 0
    p = p + 6
    local text = pcall('GET', key)
    local start, ends, count, told_start, told_count = b0, b1, 0, -1, 0
    if now >= b2 then start, ends = b2, b3 elseif now >= b1 then start, ends = b1, b2 end
    if now < b0 or now >= b3 then again = true end
    if text then
      told_start, told_count = match(type(text) == 'string' and text or '', '^(%d+):(%d+):?%d*$')
      told_start, told_count = tonumber(told_start), tonumber(told_count)
      if not told_start or told_start % 1000000 ~= 0 or told_start - now > 2147483647000000
        or told_count < 1 or told_count > 4294967295 then
        faults, told_start, told_count = faults + 2 ^ (i - 1), -1, 0
      elseif now - told_start > 2147483647000000 then
        -- So long ago that the caller, who keeps seconds modulo 2^32, could take it for the present.
        told_start, told_count = -1, 0
      elseif told_start >= start and told_start - now <= slack then
        -- A clock slightly behind the one that opened the next window stands in that window.
        count = told_count
        if told_start >= b3 then again = true
        elseif told_start >= b2 then start, ends = b2, b3
        elseif told_start >= b1 then start, ends = b1, b2 end
      end
    end
    reply[n + 1], reply[n + 2] = told_start, told_count
    size = n + 2
    local left = capacity - count
    if least > left then least = left end
    if cost > left then fits = fits and cost == 0 end
    states[i] = {kind, text, start, count, ends + slack}
--@ write
  elseif kind == 'f' or kind == 'k' then
    local count = s[4]
    ends = s[5]
    if verb == 'f' then
      if cost > 0 and count > 0 then
        count = count - cost
        if count > 0 then text = format('%d:%d', s[3], count) else gone = true end
      end
    elseif granted > 0 then
      text = format('%d:%d', s[3], count + granted)
    end
