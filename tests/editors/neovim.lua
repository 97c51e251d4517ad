-- Tests the server in a headless Neovim: findings arrive, hover shows facts, and a code action changes
-- the buffer, which removes the finding. See neovim.sh.

local script = [[
import torch
import torch.nn.functional as F

logits = torch.randn(4, 3)
target = torch.tensor([0, 1, 3, 2])
loss = F.cross_entropy(logits, target)
logits.to("cuda")
]]

local function check(condition, what)
  if not condition then
    io.stderr:write("FAILED: " .. what .. "\n")
    vim.cmd("cquit 1")
  end
  io.stdout:write("ok: " .. what .. "\n")
end

local function wait(condition, what)
  check(vim.wait(20000, condition, 20), what)
end

local function codes()
  local found = {}
  for _, one in ipairs(vim.diagnostic.get(0)) do
    table.insert(found, one.code or one.user_data.lsp.code)
  end
  table.sort(found)
  return table.concat(found, " ")
end

local function contains(text)
  return table.concat(vim.api.nvim_buf_get_lines(0, 0, -1, false), "\n"):find(text, 1, true) ~= nil
end

-- Chooses the code action whose title begins with a text.
local function choose(start)
  vim.ui.select = function(items, _, on_choice)
    for _, item in ipairs(items) do
      local action = item.action or item[2]
      if vim.startswith(action.title, start) then
        return on_choice(item)
      end
    end
    check(false, "an action `" .. start .. "…`")
  end
  vim.lsp.buf.code_action()
end

local folder = vim.env.TORCHVET_FOLDER
local path = folder .. "/train.py"
vim.fn.writefile(vim.split(script, "\n"), path)
vim.cmd("edit " .. path)
vim.bo.filetype = "python"
local config = { name = "torchvet", cmd = { vim.env.TORCHVET, "server" }, root_dir = folder }
if vim.lsp.start then
  vim.lsp.start(config)
else
  vim.lsp.buf_attach_client(0, vim.lsp.start_client(config))
end

wait(function() return codes() == "TV103 TV302" end, "findings arrive")
local first = vim.diagnostic.get(0, { lnum = 5 })[1]
check(first.col == 7 and first.severity == vim.diagnostic.severity.ERROR, "where they belong")
check(first.message:find("target holds 3", 1, true), "with their message")

vim.api.nvim_win_set_cursor(0, { 6, 24 })
local windows = #vim.api.nvim_list_wins()
vim.lsp.buf.hover()
wait(function() return #vim.api.nvim_list_wins() > windows end, "hover opens a window")
local shown = ""
for _, window in ipairs(vim.api.nvim_list_wins()) do
  local lines = vim.api.nvim_buf_get_lines(vim.api.nvim_win_get_buf(window), 0, -1, false)
  shown = shown .. table.concat(lines, "\n")
end
check(shown:find("logits: float32[4, 3]", 1, true), "with the facts of the expression")

vim.api.nvim_win_set_cursor(0, { 7, 0 })
choose("Assign")
wait(function() return contains('logits = logits.to("cuda")') end, "a quick fix is applied")
wait(function() return codes() == "TV103" end, "and its finding goes")

vim.api.nvim_win_set_cursor(0, { 6, 8 })
choose("Ignore TV103 here")
wait(function() return contains("target)  # torchvet: ignore[TV103]") end, "a finding is ignored")
wait(function() return codes() == "" end, "and is gone")

vim.cmd("undo")
-- There was no key press between the changes, so `undo` reverts both.
wait(function() return codes() == "TV103 TV302" end, "undone, they are back")
vim.cmd("write")
vim.cmd("qall!")
