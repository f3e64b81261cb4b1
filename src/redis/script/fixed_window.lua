-- Fixed window from its first hit. Value: `end:count`, both the window's; a third number is read over.
-- Arguments: capacity, period.
--@ read
  elseif kind == 'f' then
    local capacity, period = ARGV[p + 1] + 0, ARGV[p + 2] + 0
    p = p + 3
    local text = pcall('GET', key)
    local ends, count, told_end, told_count = now + period, 0, -1, 0
    if text then
      told_end, told_count = match(type(text) == 'string' and text or '', '^(%d+):(%d+):?%d*$')
      told_end, told_count = tonumber(told_end), tonumber(told_count)
      if not told_end or told_end - now > period + slack or told_count < 1 or told_count > 4294967295 then
        faults, told_end, told_count = faults + 2 ^ (i - 1), -1, 0
      elseif told_end > now then
        ends, count = told_end, told_count
      end
    end
    reply[n + 1], reply[n + 2] = told_end, told_count
    size = n + 2
    local left = capacity - count
    if least > left then least = left end
    if cost > left then fits = fits and cost == 0 end
    states[i] = {kind, text, ends, count, ends}
