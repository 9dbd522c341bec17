import json
import urllib.request

page, pages, tools = 1, 1, []
while page <= pages:
    url = f"https://palmares.example/api/v1/tools?limit=200&page={page}"
    with urllib.request.urlopen(url) as response:
        answer = json.load(response)
    tools += answer["data"]
    page, pages = page + 1, answer["meta"]["pages"]
print(len(tools), "outils")
