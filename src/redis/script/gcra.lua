-- GCRA. Value: `q`, or `q:r:L`, the theoretical arrival time q + r/L in microseconds; a fourth number is read over.
-- Arguments: L, the duration of the cost (of one unit for 'm') as a pair, the capacity time as a pair, and how far
-- ahead of now a time may lie at all. A cost above the capacity comes as a duration that never fits.
--@ read
  elseif kind == 'g' then
    local L, cq, cr = ARGV[p + 1] + 0, ARGV[p + 2] + 0, ARGV[p + 3] + 0
    local Dq, Dr, bound = ARGV[p + 4] + 0, ARGV[p + 5] + 0, ARGV[p + 6] + 0
    p = p + 7
    local text = pcall('GET', key)
    local q, r, told_q, told_r, told_L, fault = now, 0, -1, 0, 1, false
    if text then
      told_q = tonumber(text)
      if not told_q and type(text) == 'string' then
        told_q, told_r, told_L = match(text, '^(%d+):(%d+):(%d+):?%d*$')
        told_q, told_r, told_L = tonumber(told_q), tonumber(told_r), tonumber(told_L)
      end
      if not (told_q and told_q >= 0 and told_q < 9007199254740992 and told_q % 1 == 0 and told_L < 4294967296
        and (told_r == 0 or told_r < told_L)) then
        faults, told_q, told_r = faults + 2 ^ (i - 1), -1, 0
      elseif told_q >= now and L > 0 then
        -- Written under another count: the microsecond above, so that no change of numbers gives anything.
        if told_r > 0 and told_L ~= L then told_q, told_r = told_q + 1, 0 end
        q, r = told_q, told_r
        if q - now > bound or (q - now == bound and r > Dr) then
          q, r, fault = now + Dq, Dr, true
          clamped = clamped + 2 ^ (i - 1)
        end
      else
        told_q, told_r = -1, 0
      end
    end
    reply[n + 1], reply[n + 2] = told_q, told_r
    size = n + 2
    local to_q, to_r = q + cq, r + cr
    if to_r >= L then to_q, to_r = to_q + 1, to_r - L end
    if verb == 'm' then
      -- The most units that fit, by doubling one unit's duration and going back down.
      local free_q, free_r, units, k = now + Dq + patience - q, Dr - r, 0, 0
      if free_r < 0 then free_q, free_r = free_q - 1, free_r + L end
      local uq, ur = {[0] = cq}, {[0] = cr}
      while 2 ^ (k + 1) <= least and (uq[k] < free_q or (uq[k] == free_q and ur[k] <= free_r)) do
        local dq, dr = uq[k] * 2, ur[k] * 2
        if dr >= L then dq, dr = dq + 1, dr - L end
        k = k + 1
        uq[k], ur[k] = dq, dr
      end
      for j = k, 0, -1 do
        if L > 0 and units + 2 ^ j <= least and (uq[j] < free_q or (uq[j] == free_q and ur[j] <= free_r)) then
          units, free_q, free_r = units + 2 ^ j, free_q - uq[j], free_r - ur[j]
          if free_r < 0 then free_q, free_r = free_q - 1, free_r + L end
        end
      end
      least = units
    elseif cost > 0 then
      local over = to_q - now - Dq - patience
      if over > 0 or (over == 0 and to_r > Dr) then fits = false end
    end
    states[i] = {kind, text, q, r, to_q, to_r, fault, L, cq, cr}
--@ write
  elseif kind == 'g' then
    local q, r, L = s[3], s[4], s[8]
    ends = q
    if verb == 'f' then
      local debt_q, debt_r, cq, cr = q - now, r, s[9], s[10]
      if cost > 0 and (debt_q > 0 or debt_r > 0) then
        if cq > debt_q or (cq == debt_q and cr >= debt_r) then
          -- Full, and not absent: to a clock that runs back, a full bucket of the future is still ahead.
          q, r = now, 0
        else
          q, r = q - cq, r - cr
          if r < 0 then q, r = q - 1, r + L end
        end
        written = true
      end
    elseif verb == 'm' then
      local uq, ur, units = s[9], s[10], granted
      while units > 0 do
        if units % 2 == 1 then
          q, r = q + uq, r + ur
          if r >= L then q, r = q + 1, r - L end
          units, written = units - 1, true
        end
        units, uq, ur = units / 2, uq * 2, ur * 2
        if ur >= L then uq, ur = uq + 1, ur - L end
      end
    elseif granted > 0 then
      q, r, written = s[5], s[6], true
    end
    if written or s[7] then
      ends = q
      text = r == 0 and format('%d', q) or format('%d:%d:%d', q, r, L)
    end
