-- Sliding window of two counters. Value: `start:previous:current`; a fourth number is read over.
-- Arguments: capacity, period.
--@ read
  elseif kind == 's' then
    local capacity, period = ARGV[p + 1] + 0, ARGV[p + 2] + 0
    p = p + 3
    local text = pcall('GET', key)
    local start, previous, current = now - now % period, 0, 0
    local told_start, told_previous, told_current = -1, 0, 0
    if text then
      told_start, told_previous, told_current =
        match(type(text) == 'string' and text or '', '^(%d+):(%d+):(%d+):?%d*$')
      told_start, told_previous, told_current = tonumber(told_start), tonumber(told_previous), tonumber(told_current)
      if not told_start or told_start - now > slack or told_start % period ~= 0 or told_previous > 4294967295
        or told_current > 4294967295 then
        faults, told_start, told_previous, told_current = faults + 2 ^ (i - 1), -1, 0, 0
      elseif told_start >= start then
        start, previous, current = told_start, told_previous, told_current
      elseif told_start == start - period then
        previous = told_current
      end
    end
    reply[n + 1], reply[n + 2], reply[n + 3] = told_start, told_previous, told_current
    size = n + 3
    local rest = period - (now > start and now - start or 0)
    -- Whether previous * rest <= room * period. Beyond 2^53 in limbs of 15 bits, each product below 2^48.
    local function weighs_at_most(room)
      if room < 0 or room >= previous then return room >= 0 end
      if previous * rest < 9007199254740992 and room * period < 9007199254740992 then
        return previous * rest <= room * period
      end
      local function limbs(count, time)
        local low = count * (time % 32768)
        time = (time - time % 32768) / 32768
        local middle = count * (time % 32768) + (low - low % 32768) / 32768
        return count * ((time - time % 32768) / 32768) + (middle - middle % 32768) / 32768, middle % 32768, low % 32768
      end
      local a2, a1, a0 = limbs(previous, rest)
      local b2, b1, b0 = limbs(room, period)
      if a2 ~= b2 then return a2 < b2 end
      if a1 ~= b1 then return a1 < b1 end
      return a0 <= b0
    end
    if verb == 'm' then
      -- The least room in which the window before fits, by bisection.
      local low, high = 0, previous
      while low < high do
        local middle = (low + high - (low + high) % 2) / 2
        if weighs_at_most(middle) then high = middle else low = middle + 1 end
      end
      if least > capacity - current - low then least = capacity - current - low end
    elseif cost > 0 and not weighs_at_most(capacity - current - cost) then
      fits = false
    end
    states[i] = {kind, text, start, previous, current, period}
--@ write
  elseif kind == 's' then
    local start, previous, current, period = s[3], s[4], s[5], s[6]
    if verb == 'f' then
      if cost > 0 and current > 0 then
        current, written = current - cost, true
        if current < 0 then current = 0 end
      end
    elseif granted > 0 then
      current, written = current + granted, true
    end
    -- A window refunded to nothing is kept too: a clock behind it stands at its start all the same.
    if written then text = format('%d:%d:%d', start, previous, current) end
    ends = start + (current > 0 and 2 or 1) * period
