import Migrations

print("x", Migrations.x)
